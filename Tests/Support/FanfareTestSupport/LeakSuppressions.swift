/// LeakSanitizer asks the program for this function by its name. Foundation's XML parser (6.3) leaks one string of 72 bytes
/// per error it reports, and the tests make it report many. Its `Process` leaks 32 bytes per program that is run, what
/// Swift keeps for a weak reference.
@c(__lsan_default_suppressions)
public func leakSuppressions() -> UnsafePointer<UInt8> {
    let known: StaticString = "leak:_CFErrorCreateFromXMLInterface\nleak:10Foundation7ProcessC3runyyKF\n"
    return known.utf8Start
}
