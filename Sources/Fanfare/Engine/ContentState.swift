import FanfareJSON
import FanfareLoop
public import FanfareModel
import Foundation

/// Publishing the app's own `ContentState`, the same Swift struct in the app and in the backend:
///
/// ```swift
/// struct Ride: Codable, Hashable, Sendable {
///     var driver: String
///     var arrival: Date
/// }
/// _ = try await engine.publish(Ride(driver: "Anna", arrival: arrival), for: TopicID("ride/17"))
/// ```
///
/// ActivityKit decodes with a default `JSONDecoder`, so the state is encoded with a default `JSONEncoder`: a `Date` is a number of seconds
/// since 2001, `Data` is base64, and members are named like the properties (spec §6.1, documented). The calling thread encodes each update
/// once, never once per token.
extension Engine.Command {
    /// Publishes the whole content state of a topic. It replaces the previous state, so an optional that has become `nil` disappears from phones too.
    /// The topic's rules apply as for any other event: the engine sends nothing unless something visible has changed.
    ///
    /// - Parameters:
    ///   - state: a value of the struct that the app uses as its `ContentState`.
    ///   - topic: topic that shows the state.
    ///   - at: event time; `nil`: now. The topic drops a state older than the newest as `late`.
    ///   - id: makes it safe to hand in the state again, as after a crash: the topic takes it once, with one alert.
    ///   - alert: request for attention. The topic's budget may demote it; the decision record says so. The record also says if the state has more
    ///     bytes than the topic's rules allow.
    ///   - key: also makes it safe to hand in the command again, for 24 hours; the receipt reports the repetition.
    /// - Throws: `ContentStateFault` if a phone could not read the state back.
    /// - Complexity: an encoding and a decoding of the state on the calling thread, whatever the number of activities.
    public static func publish(
        _ state: some Codable & Hashable & Sendable, for topic: TopicID, at: FeedTime? = nil, id: String? = nil,
        alert: AlertText? = nil, key: IdempotencyKey? = nil
    ) throws(ContentStateFault) -> Self {
        try publish(state, for: topic, as: StateEvent(at: at, id: id, alert: alert), key: key)
    }

    /// Publishes the whole content state of a topic by an event that may also begin or end the topic, or name its kind. The state replaces the previous
    /// one, and the engine sends nothing unless something visible has changed.
    ///
    /// - Parameters:
    ///   - state: a value of the struct that the app uses as its `ContentState`.
    ///   - topic: topic that shows the state.
    ///   - event: what the event says beside the state.
    ///   - key: makes it safe to hand in the command again, for 24 hours; the receipt reports the repetition.
    /// - Throws: `ContentStateFault` if a phone could not read the state back.
    /// - Complexity: an encoding and a decoding of the state on the calling thread, whatever the number of activities.
    public static func publish(
        _ state: some Codable & Hashable & Sendable, for topic: TopicID, as event: StateEvent,
        key: IdempotencyKey? = nil
    ) throws(ContentStateFault) -> Self {
        let content: JSONObject
        do throws(ContentStateFault.Problem) { content = try JSONObject(contentState: state) } catch {
            throw ContentStateFault(topic: topic, problem: error)
        }
        return Self(
            .happening { now in
                FeedEvent(
                    topic: topic, topicKind: event.topicKind, at: event.at ?? now, id: event.id, kind: "state",
                    lifecycle: event.lifecycle, change: .contentState(content), alert: event.alert)
            }, key: key)
    }
}

extension Engine {
    /// Publishes the whole content state of a topic: `Command.publish(_:for:at:id:alert:key:)`.
    ///
    /// - Throws: `.stopped`, `.cancelled`; `.refused` for a state that a phone could not read back (`Refusal.Cause.contentState`), and for a key that
    ///   another call has used.
    /// - Complexity: an encoding and a decoding of the state on the calling thread, whatever the number of activities.
    public func publish(
        _ state: some Codable & Hashable & Sendable, for topic: TopicID, at: FeedTime? = nil, id: String? = nil,
        alert: AlertText? = nil, key: IdempotencyKey? = nil
    ) async throws(EngineError) -> Receipt {
        try await publish(state, for: topic, as: StateEvent(at: at, id: id, alert: alert), key: key)
    }

    /// Publishes the whole content state of a topic by an event that may also begin or end the topic, or name its kind:
    /// `Command.publish(_:for:as:key:)`.
    ///
    /// - Throws: `.stopped`, `.cancelled`; `.refused` for a state that a phone could not read back (`Refusal.Cause.contentState`), and for a key that
    ///   another call has used.
    /// - Complexity: an encoding and a decoding of the state on the calling thread, whatever the number of activities.
    public func publish(
        _ state: some Codable & Hashable & Sendable, for topic: TopicID, as event: StateEvent,
        key: IdempotencyKey? = nil
    ) async throws(EngineError) -> Receipt {
        let command: Command
        do throws(ContentStateFault) { command = try .publish(state, for: topic, as: event, key: key) } catch {
            throw .refused(Refusal(.contentState, error.description))
        }
        return try await send(command)
    }
}

/// Reason why a content state cannot be sent. A phone that cannot decode a state silently keeps the old card, so the engine checks it first.
public struct ContentStateFault: Error, Sendable, CustomStringConvertible {
    /// Property of a content state that phones cannot read.
    public enum Problem: Error, Sendable {
        /// The encoder failed, for example on a number that is not finite; the value is the encoder's message.
        case notEncodable(String)
        /// The state is a single value or an array, although ActivityKit requires an object.
        case notAnObject
        /// A default `JSONDecoder` fails or returns another value; the text says which.
        case decodesDifferently(String)
    }

    /// Topic whose state was to be published. It keeps its previous state.
    public let topic: TopicID
    /// Reason why a phone could not read the state.
    public let problem: Problem

    /// Text for people in one line: topic and problem.
    public var description: String {
        switch problem {
        case .notEncodable(let reason): "\(topic): the content state cannot be encoded: \(reason)"
        case .notAnObject: "\(topic): the content state is not encoded as a JSON object"
        case .decodesDifferently(let reason):
            "\(topic): a phone would not read this content state as it is meant: \(reason)"
        }
    }
}

extension JSONObject {
    /// Encodes with default strategies and checks that the canonical form decodes to an equal value. The check catches integers above
    /// `Int64.max`, a `Decimal` longer than a `Double`, and an `init(from:)` that does not match the encoding.
    init<State: Codable & Hashable>(contentState state: State) throws(ContentStateFault.Problem) {
        let encoded: Data
        do { encoded = try JSONEncoder().encode(state) } catch { throw .notEncodable("\(error)") }
        guard let object = JSONObject(parsing: Array(encoded)) else { throw .notAnObject }
        var canonical: [UInt8] = []
        object.write(to: &canonical)
        let decoded: State
        do { decoded = try JSONDecoder().decode(State.self, from: Data(canonical)) } catch {
            throw .decodesDifferently("\(error)")
        }
        guard decoded == state else { throw .decodesDifferently("it decodes to another value") }
        self = object
    }
}
