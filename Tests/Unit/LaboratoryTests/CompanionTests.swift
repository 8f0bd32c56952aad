import Dispatch
import Foundation
import Testing

@testable import Laboratory

@Suite struct CompanionTests {
    /// The kernel takes the end of the thread for that of the program.
    @Test(
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/setpriv"), "util-linux has no setpriv here")
    )
    func `A program beside the run ends when the thread that has started it does`() throws {
        let process = Process()
        process.setProgram("/usr/bin/tail", ["-f", "/dev/null"])
        process.standardOutput = FileHandle.nullDevice
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            try? process.run()
            // A thread that ends before the program has asked for the signal sends none.
            let name = "/proc/\(process.processIdentifier)/comm"
            while process.isRunning, (try? String(contentsOfFile: name, encoding: .utf8)) != "tail\n" { sched_yield() }
            done.signal()
        }
        done.wait()
        try #require(process.processIdentifier > 0)
        process.waitUntilExit()
        #expect(process.terminationReason == .uncaughtSignal && process.terminationStatus == 9)
    }
}
