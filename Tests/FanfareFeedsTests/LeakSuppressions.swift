/// LeakSanitizer asks the program for this function by its name. Foundation's XML parser (6.3) leaks one string of 72 bytes
/// per error it reports, and the tests make it report many.
@c(__lsan_default_suppressions)
public func leakSuppressions() -> UnsafePointer<UInt8> {
    let known: StaticString = "leak:_CFErrorCreateFromXMLInterface\n"
    return known.utf8Start
}
