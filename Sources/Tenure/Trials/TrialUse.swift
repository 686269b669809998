/// The use of one trial on this device.
struct TrialUse: Sendable, Hashable, Codable {
    /// The number of sessions that have begun.
    var sessions = 0
}
