import Foundation
import Glibc

/// Readings of the kernel's accounts of a process (proc(5)).
package enum ProcessReadings {
    package struct Memory: Sendable {
        package var residentBytes: Int64 = 0
        package var threads = 0
        package var descriptors = 0
    }

    /// Resident memory, threads and open descriptors of this process.
    package static func memory() -> Memory {
        var memory = Memory()
        for line in lines("/proc/self/status") {
            let words = line.split(whereSeparator: \.isWhitespace)
            guard words.count > 1 else { continue }
            if words[0] == "VmRSS:" { memory.residentBytes = (Int64(words[1]) ?? 0) * 1024 }
            if words[0] == "Threads:" { memory.threads = Int(words[1]) ?? 0 }
        }
        // The folder's own descriptor is among them while it is read.
        memory.descriptors = max(
            0, ((try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 1) - 1)
        return memory
    }

    /// Uses so much of the calling thread's processor time.
    ///
    /// - Returns: nanoseconds that it used, the first reading of the clock included.
    static func spin(_ nanoseconds: Int64) -> Int64 {
        let start = cpuNanosecondsOfThread()
        var (used, readings): (Int64, Int64) = (0, 0)
        // The first reading takes as long as the others do, and lies before the start.
        repeat {
            used = cpuNanosecondsOfThread() - start
            readings += 1
        } while used + used / readings < nanoseconds
        return used + used / readings
    }

    /// Processor seconds of each thread of a process, by the threads' names; threads with one name are added up.
    ///
    /// - Parameter process: `nil` for this one.
    package static func threads(of process: Int32? = nil) -> [String: Double] {
        let folder = "/proc/\(process.map(String.init) ?? "self")/task"
        var seconds: [String: Double] = [:]
        for task in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
            guard let name = lines("\(folder)/\(task)/comm").first,
                let spent = lines("\(folder)/\(task)/schedstat").first?.split(separator: " ").first.flatMap({
                    Double($0)
                })
            else { continue }
            seconds[String(name), default: 0] += spent / 1e9
        }
        return seconds
    }

    /// Processor time of the calling thread.
    static func cpuNanosecondsOfThread() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    static func lines(_ path: String) -> [Substring] {
        guard let data = FileManager.default.contents(atPath: path) else { return [] }
        return String(decoding: data, as: UTF8.self).split(separator: "\n")
    }
}
