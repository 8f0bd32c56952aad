import FanfareFeeds
import FanfareLoop
public import FanfareModel
import Foundation

/// The app's own `ContentState`, the same Swift struct in the app and in the backend:
///
/// ```swift
/// struct Ride: Codable, Hashable, Sendable {
///     var driver: String
///     var arrival: Date
/// }
/// _ = try await engine.publish(Ride(driver: "Anna", arrival: arrival), for: TopicID("ride/17"))
/// ```
///
/// ActivityKit decodes with a `JSONDecoder` as it comes, so it is encoded with a `JSONEncoder` as it comes: a `Date` counts
/// seconds from 2001, `Data` is base64, names are the properties' (spec §6.1, documented). Once per update, on the calling
/// thread, and never per token.
extension Engine.Command {
    /// The whole content state of a topic. It replaces the one before, so an optional that has become `nil` is gone from the
    /// phones, too. The topic's rules decide as with any other event: nothing is sent when nothing visible has changed.
    ///
    /// - Parameters:
    ///   - state: a value of the struct that the app has as its `ContentState`.
    ///   - topic: what shows it.
    ///   - kind: of the topic, on its first event; without one everything is visible and nothing is folded.
    ///   - at: event time, now when left out. A state older than the newest is dropped as `late`.
    ///   - lifecycle: `.end` makes this the last state.
    ///   - alert: asks for attention. The topic's budget may demote it; the decision record tells, and also of a state of more bytes than
    ///     the topic's rules allow.
    /// - Throws: when a phone could not read the state back.
    public static func publish(
        _ state: some Codable & Hashable & Sendable, for topic: TopicID, kind: TopicKind? = nil, at: FeedTime? = nil,
        lifecycle: FeedEvent.Lifecycle? = nil, alert: AlertText? = nil
    ) throws(ContentStateFault) -> Self {
        let content: JSONObject
        do throws(ContentStateFault.Problem) { content = try JSONObject(contentState: state) } catch {
            throw ContentStateFault(topic: topic, problem: error)
        }
        return Self(
            .happening { now in
                FeedEvent(
                    topic: topic, topicKind: kind, at: at ?? now, kind: "state", lifecycle: lifecycle,
                    change: .contentState(content), alert: alert)
            })
    }
}

extension Engine {
    /// The whole content state of a topic, `Command.publish(_:for:kind:at:lifecycle:alert:)`. A state that a phone could not read back is
    /// `.refused`.
    public func publish(
        _ state: some Codable & Hashable & Sendable, for topic: TopicID, kind: TopicKind? = nil, at: FeedTime? = nil,
        lifecycle: FeedEvent.Lifecycle? = nil, alert: AlertText? = nil
    ) async throws(EngineError) -> Receipt {
        let command: Command
        do throws(ContentStateFault) {
            command = try .publish(state, for: topic, kind: kind, at: at, lifecycle: lifecycle, alert: alert)
        } catch { throw .refused(Refusal(.contentState, error.description)) }
        return try await send(command)
    }
}

/// Why a content state cannot be sent. A phone that cannot decode one keeps the old card and tells nobody, so it is found out
/// here.
public struct ContentStateFault: Error, Sendable, CustomStringConvertible {
    /// What a phone could not read.
    public enum Problem: Error, Sendable {
        /// The encoder's words: a number that is none, a type that refuses.
        case notEncodable(String)
        /// A single value, or an array: ActivityKit wants an object.
        case notAnObject
        /// What a default `JSONDecoder` makes of it is something else, or an error, given here.
        case decodesDifferently(String)
    }

    /// The topic whose state was to be published; it goes on with the state before.
    public let topic: TopicID
    /// What is wrong with the state.
    public let problem: Problem

    /// Topic and problem in one line for people.
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
    /// Encodes with default strategies, and checks that the canonical form decodes to an equal value: an integer above
    /// `Int64.max`, a `Decimal` longer than a `Double`, or an `init(from:)` of another mind must not go out quietly.
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
