/// What was used of one trial on this device.
package struct TrialUse: Sendable, Hashable, Codable {
    package var sessions = 0

    package init() {}
}
