import FanfareModel
import Foundation

extension Machine {
    /// Description of this machine and build.
    package static func here() -> Machine {
        var machine = Machine()
        let processor = ProcessReadings.lines("/proc/cpuinfo").first { $0.hasPrefix("model name") }
        machine.processor = processor?.split(separator: ":").last?.trimmingCharacters(in: .whitespaces) ?? "unknown"
        machine.processors = ProcessInfo.processInfo.activeProcessorCount
        machine.memoryBytes = Int64(clamping: ProcessInfo.processInfo.physicalMemory)
        machine.kernel = ProcessReadings.lines("/proc/sys/kernel/osrelease").first.map(String.init) ?? ""
        machine.commit = commit()
        machine.program = FileManager.default.contents(atPath: "/proc/self/exe").map {
            String($0.fnv1a, radix: 16)
        }
        #if DEBUG
        machine.isDebugBuild = true
        #endif
        machine.startedAt = ISO8601DateFormatter.withFraction.string(from: Date())
        return machine
    }

    private static func commit() -> String {
        guard let head = git(["rev-parse", "--short", "HEAD"]), !head.isEmpty else { return "" }
        return head + ((git(["status", "--porcelain", "--untracked-files=no"]) ?? "").isEmpty ? "" : "+")
    }

    private static func git(_ arguments: [String]) -> String? {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["git", "-C", ProgramFiles.folder] + arguments
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return nil }
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { return nil }
        return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }
}

extension ISO8601DateFormatter {
    /// RFC 3339 with milliseconds: runs of less than a second take turns, too.
    static var withFraction: ISO8601DateFormatter {
        let format = ISO8601DateFormatter()
        format.formatOptions.insert(.withFractionalSeconds)
        return format
    }
}
