/// Exit status of `fanfare-load`: 0 for a run that passes, 1 for a broken threshold or a worthless run, 2 for a command that cannot be carried out.
enum ExitStatus {
    static let (passed, broken, usage): (Int32, Int32, Int32) = (0, 1, 2)
}
