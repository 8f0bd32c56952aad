import FuzzSubjects
import Glibc

/// libFuzzer brings `main`. The environment's `FUZZ_SUBJECT` names what it feeds, or `canary`.
@c(LLVMFuzzerTestOneInput)
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    if let subject { subject.run(bytes) } else { runCanary(bytes) }
    return 0
}

// libFuzzer calls back from C, which takes no error: the process ends with the reason. `scripts/fuzz` names the subjects.
private let subject: FuzzSubject? = {
    guard let value = getenv("FUZZ_SUBJECT") else { fatalError("FUZZ_SUBJECT names no subject") }
    let name = String(cString: value)
    if name == "canary" { return nil }
    guard let subject = FuzzSubject(rawValue: name) else { fatalError("FUZZ_SUBJECT \(name) is no subject") }
    return subject
}()

/// A fault that must be found, else the fuzzer is blind: four bytes that chance alone does not hit, one branch at a time. It ends
/// the process, which is how libFuzzer knows a fault.
private func runCanary(_ bytes: [UInt8]) {
    guard bytes.count >= 4 else { return }
    if bytes[0] == UInt8(ascii: "S") {
        if bytes[1] == UInt8(ascii: "i") {
            if bytes[2] == UInt8(ascii: "n") {
                if bytes[3] == UInt8(ascii: "g") { fatalError("the canary sings") }
            }
        }
    }
}

/// LeakSanitizer asks for it by name. Foundation's XML parser (6.3) leaks one string per error it reports.
@c(__lsan_default_suppressions)
public func leakSuppressions() -> UnsafePointer<UInt8> {
    let known: StaticString = "leak:_CFErrorCreateFromXMLInterface\n"
    return known.utf8Start
}
