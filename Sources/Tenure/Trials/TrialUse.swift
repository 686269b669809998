/// The use of one trial on this device.
package struct TrialUse: Sendable, Hashable, Codable {
    package var sessions: Int

    package init(sessions: Int = 0) {
        self.sessions = sessions
    }
}
