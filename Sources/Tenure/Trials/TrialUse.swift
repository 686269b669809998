/// The use of one trial on this device.
package struct TrialUse: Sendable, Hashable, Codable {
    /// The number of sessions that have begun.
    package var sessions = 0
}
