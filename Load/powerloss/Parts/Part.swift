internal import FanfareModel

/// Part of a store that writes in steps, each from a seed, and knows what must be read back after each of them.
package protocol Part: AnyObject {
    /// Its folder.
    static var name: String { get }

    init(store: String) throws
    /// Makes the next step durable.
    func step() throws
    /// Lets go of the files, as a process that ends.
    func close()

    /// Opens what a loss of power has left, reads it, and goes on.
    ///
    /// - Parameters:
    ///   - done: number of steps that were acknowledged.
    ///   - begun: number of steps that were handed in.
    /// - Returns: what is wrong; `nil` if nothing is.
    func judge(store: String, done: Int, begun: Int) throws -> String?
}

extension UInt64 {
    /// Returns a text of so many bytes that no other number has.
    func text(bytes: Int) -> String {
        let unit = String(mixed, radix: 16) + "-"
        return String(String(repeating: unit, count: bytes / unit.utf8.count + 1).prefix(bytes))
    }
}
