/// `precondition` that keeps its words in optimised builds. A promise that is broken ends the process: to libFuzzer that is a
/// finding.
func promise(_ holds: Bool, _ what: @autoclosure () -> String) {
    if !holds { fatalError("broken promise: \(what())") }
}
