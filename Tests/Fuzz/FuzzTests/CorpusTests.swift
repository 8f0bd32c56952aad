import Foundation
import FuzzSubjects
import Testing

/// Replays what `make fuzz` has found worth keeping, and what once was a fault. A broken promise ends the process.
@Suite(.serialized) struct CorpusTests {
    @Test(arguments: FuzzSubject.allCases) func fuzzCorpusBreaksNoPromise(_ subject: FuzzSubject) throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../Corpus/\(subject.rawValue)").standardized
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(!names.isEmpty, "no corpus for \(subject.rawValue)")
        for name in names {
            let bytes = Array(try Data(contentsOf: folder.appendingPathComponent(name)))
            subject.run(bytes)
            // Bytes that are refused at once would find nothing.
            #expect(subject.takes(bytes) != false, "\(name) is refused")
            // And cut short, as a broken line would leave it.
            for quarters in 0..<4 { subject.run(Array(bytes[..<(bytes.count * quarters / 4)])) }
        }
    }
}
