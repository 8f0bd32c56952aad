/// A time of the feed: milliseconds since 1970-01-01 00:00 UTC.
///
/// Event time (`at`) and log time (`now`) have this type, and so has the wall clock's time where it is compared with them; the monotonic
/// clock's times have another. `at` comes from the provider and may go back; `now` is the decision core's only clock and never does.
public struct FeedTime: Hashable, Comparable, Sendable, BitwiseCopyable {
    /// Milliseconds since 1970-01-01 00:00 UTC, without leap seconds; negative before that.
    public var milliseconds: Int64

    /// Creates a time from Unix milliseconds. Seconds passed by mistake give a time in January 1970, which cannot be detected here.
    @inlinable public init(milliseconds: Int64) { self.milliseconds = milliseconds }
    /// Creates a time from Unix seconds. Out-of-range values, such as nanoseconds passed by mistake, become the nearest
    /// representable time, which the core rejects as implausible.
    public init(seconds: Int64) {
        let (milliseconds, isTooMuch) = seconds.multipliedReportingOverflow(by: 1000)
        self.milliseconds = isTooMuch ? (seconds < 0 ? .min : .max) : milliseconds
    }

    /// Plausible times, 1970 to 2100. Times outside are nearly always in a wrong unit.
    package static let plausible = FeedTime(milliseconds: 0)..<FeedTime(milliseconds: 4_102_444_800_000)
    package var isPlausible: Bool { FeedTime.plausible.contains(self) }

    /// Returns `true` if `a` is earlier.
    public static func < (a: FeedTime, b: FeedTime) -> Bool { a.milliseconds < b.milliseconds }
    /// Returns the time after a duration, or before it if the duration is negative. Truncates fractions of a millisecond, and clamps the result to
    /// the first or last representable time.
    public static func + (time: FeedTime, duration: Duration) -> FeedTime {
        let (sum, isTooMuch) = time.milliseconds.addingReportingOverflow(duration.milliseconds)
        return FeedTime(milliseconds: isTooMuch ? (duration < .zero ? .min : .max) : sum)
    }
    /// Returns the time from `b` to `a`, negative if `a` is earlier; at most 292 million years.
    public static func - (a: FeedTime, b: FeedTime) -> Duration {
        let (difference, isTooMuch) = a.milliseconds.subtractingReportingOverflow(b.milliseconds)
        return .milliseconds(isTooMuch ? (a < b ? .min : .max) : difference)
    }

    /// Seconds since 2001-01-01 00:00 UTC, as `JSONDecoder`'s default strategy, and so ActivityKit, reads a `Date` (spec §6.1,
    /// documented by Apple).
    @usableFromInline package var activityKitSeconds: Double { Double(milliseconds - 978_307_200_000) / 1000 }

    /// Creates the time of a date in a content state; `nil` if it is not plausible.
    package init?(activityKitSeconds seconds: Double) {
        // Far beyond all plausible times, and far from an overflow.
        guard seconds.magnitude < 1e12 else { return nil }
        milliseconds = Int64((seconds * 1000).rounded()) + 978_307_200_000
        guard isPlausible else { return nil }
    }
}

extension Duration {
    /// Whole milliseconds, rounded towards zero and clamped to 146 years in either direction. So neither their nanoseconds nor the
    /// sum of those and a moment's overflow 64 bits, whatever duration a program has set.
    @usableFromInline package var milliseconds: Int64 {
        // Not from `components`, which takes three times as long: a lineup has its own dates in every push. A millisecond has 2^15 * 5^15
        // attoseconds, and up to three days the quotient by the first factor fits into 64 bits.
        let attoseconds = attoseconds
        if attoseconds >= 0, attoseconds < 1 << 78 {
            return Int64(truncatingIfNeeded: attoseconds >> 15) / 30_517_578_125
        }
        let milliseconds = attoseconds / 1_000_000_000_000_000
        return Int64(min(max(milliseconds, -Duration.millisecondsMax), Duration.millisecondsMax))
    }

    /// Milliseconds of 2^62 nanoseconds.
    private static var millisecondsMax: Int128 { (1 << 62) / 1_000_000 }
}

extension FeedTime: CustomStringConvertible {
    /// The time as RFC 3339 in UTC with milliseconds, as every log prints it.
    public var description: String {
        var bytes: [UInt8] = []
        write(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends the `description`.
    package func write(to bytes: inout [UInt8]) {
        let days = milliseconds.flooringQuotient(86_400_000)
        let inDay = milliseconds &- days &* 86_400_000  // the first day's start is out of range
        let (year, month, day) = FeedTime.civil(days: days)
        func number(_ value: Int64, width: Int, then separator: Unicode.Scalar) {
            var unit: UInt64 = 1
            for _ in 1..<width { unit *= 10 }
            while value.magnitude / unit >= 10 { unit *= 10 }
            if value < 0 { bytes.append(UInt8(ascii: "-")) }
            while unit > 0 {
                bytes.append(48 + UInt8(truncatingIfNeeded: value.magnitude / unit % 10))
                unit /= 10
            }
            bytes.append(UInt8(ascii: separator))
        }
        number(year, width: 4, then: "-")
        number(month, width: 2, then: "-")
        number(day, width: 2, then: "T")
        number(inDay / 3_600_000, width: 2, then: ":")
        number(inDay / 60_000 % 60, width: 2, then: ":")
        number(inDay / 1000 % 60, width: 2, then: ".")
        number(inDay % 1000, width: 3, then: "Z")
    }

    /// Parses RFC 3339 (`2026-06-11T19:00:00Z`, optionally with fraction and offset); `nil` for other text.
    ///
    /// - Complexity: O(n), n being the size of the text.
    public init?(rfc3339 text: some StringProtocol) {
        var text = String(text)
        guard let time = text.withUTF8({ unsafe FeedTime(rfc3339: $0) }) else { return nil }
        self = time
    }

    /// Parses RFC 3339 in place from UTF-8, because every line of a feed has a time.
    package init?(rfc3339 text: UnsafeBufferPointer<UInt8>) {
        var rest = unsafe TimeReader(text)
        guard let year = rest.number(4), rest.skip("-"), let month = rest.number(2), rest.skip("-"),
            let day = rest.number(2), rest.skip("T") || rest.skip("t") || rest.skip(" "),
            let hour = rest.number(2), rest.skip(":"), let minute = rest.number(2), rest.skip(":"),
            let second = rest.number(2), (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60,
            second <= 60
        else { return nil }
        var fraction: Int64 = 0
        if rest.skip(".") || rest.skip(",") {
            guard let thousandths = rest.thousandths() else { return nil }
            fraction = thousandths
        }
        var offset: Int64 = 0
        if !rest.skip("Z"), !rest.skip("z") {
            let isWest = rest.skip("-")
            guard isWest || rest.skip("+"), let hours = rest.number(2), rest.skip(":"), let minutes = rest.number(2),
                hours < 24, minutes < 60
            else { return nil }
            offset = (hours * 60 + minutes) * (isWest ? -60_000 : 60_000)
        }
        guard rest.isAtEnd else { return nil }
        let days = FeedTime.days(year: year, month: month, day: day)
        self.init(milliseconds: days * 86_400_000 + ((hour * 60 + minute) * 60 + second) * 1000 + fraction - offset)
    }

    /// Returns the days since 1970-01-01 in the proleptic Gregorian calendar. Years start in March, so that the leap day is the
    /// last of its year; 400 years are 146,097 days.
    private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let y = month <= 2 ? year - 1 : year
        let era = y.flooringQuotient(400)
        let yearOfEra = y - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func civil(days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = shifted.flooringQuotient(146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }
}

/// Reader of digits and signs, from left to right. Inlined, because every event has a time of some two dozen of them.
@safe private struct TimeReader {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var position = 0

    init(_ bytes: UnsafeBufferPointer<UInt8>) { unsafe self.bytes = unsafe bytes }

    var isAtEnd: Bool { unsafe position == bytes.count }

    @inline(__always)
    private mutating func digit() -> Int64? {
        guard unsafe position < bytes.count, unsafe bytes[position] >= 48, unsafe bytes[position] <= 57 else {
            return nil
        }
        position += 1
        return unsafe Int64(bytes[position - 1] - 48)
    }

    @inline(__always)
    mutating func number(_ width: Int) -> Int64? {
        var value: Int64 = 0
        for _ in 0..<width {
            guard let digit = digit() else { return nil }
            value = value * 10 + digit
        }
        return value
    }

    @inline(__always)
    mutating func skip(_ mark: Unicode.Scalar) -> Bool {
        guard unsafe position < bytes.count, unsafe bytes[position] == UInt8(ascii: mark) else { return false }
        position += 1
        return true
    }

    /// Reads a fraction of at least one digit; truncates it after the third.
    @inline(__always)
    mutating func thousandths() -> Int64? {
        guard let first = digit() else { return nil }
        var value = first * 100
        var scale: Int64 = 10
        while let digit = digit() {
            value += digit * scale
            scale /= 10
        }
        return value
    }
}

extension Int64 {
    fileprivate func flooringQuotient(_ divisor: Int64) -> Int64 {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
