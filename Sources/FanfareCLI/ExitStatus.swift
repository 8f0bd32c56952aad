/// Exit status of the command.
enum ExitStatus: Int32 {
    /// Everything was delivered and nothing was rejected.
    case done = 0
    /// Something was rejected, was not delivered or could not be written.
    case incomplete = 1
    /// The command line is wrong or names a file that cannot be opened; nothing was done.
    case usage = 2
}
