/// Limits of the record of accepted pushes.
struct AcceptedPushLimits {
    var tokensMax = 1 << 24
    /// Most entries; 20 bytes each make 2.5 GB.
    var entriesMax = 1 << 27
    /// Most canonical bytes of all distinct content states together.
    var stateBytesMax = 1 << 29
    var alertsMax = 1 << 20
}
