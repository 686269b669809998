/// The use of one trial on this device.
package struct TrialUse: Sendable, Hashable, Codable {
    package var sessions = 0
}
