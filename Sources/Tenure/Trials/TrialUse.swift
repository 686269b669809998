/// The use of one trial on this device.
struct TrialUse: Sendable, Hashable, Codable {
    var sessions = 0
}
