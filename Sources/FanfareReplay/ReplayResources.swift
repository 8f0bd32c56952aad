package import FanfareModel

/// Time, processor and memory that the replay has taken.
package struct ReplayResources: Sendable {
    /// Seconds from the first event to the end of the replay; `deliverySeconds` goes to the last accepted push.
    package var seconds = 0.0
    package var deliverySeconds = 0.0
    /// CPU time of this process during the replay, divided by the pushes sent.
    package var cpuMicrosecondsPerPush: Double?
    /// Greatest resident memory of the process.
    package var peakMemory = ByteCount.zero
}
