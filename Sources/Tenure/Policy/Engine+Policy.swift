import Foundation

/// Keeps the policy up to date, if the app also uses a signed policy from a web server.
extension Engine {
    /// Downloads the signed policy from the developer's web server, if the app set its URL. Does nothing if the last
    /// request was less than a day ago.
    func refreshPolicy() async {
        guard let feed else { return }
        let now = setup.clock()
        if let lastRequest = policyRequestedAt, abs(now.timeIntervalSince(lastRequest)) < Self.policyWait { return }
        policyRequestedAt = now
        let result: PolicyRefresh
        do {
            result = try await withTimeout(setup.options.serviceTimeout) { await feed.refresh() }
        } catch {
            result = .failed(.unreachable("\(error)"))
        }
        switch result {
        case .updated(let counter):
            device.facts.policy = await feed.policy
            // The stored denials are decisions of the previous policy, so discard them.
            device.stored.account.denials = []
            setup.options.log.info("a newer policy is in use, with the counter \(counter)")
            device.snapshot.note(.policy, .done)
            device.post()
        case .unchanged: device.snapshot.note(.policy, .done)
        case .refused(let error):
            setup.options.log.error("\(error)")
            device.snapshot.note(.policy, .failed("\(error)"))
        case .failed(let error):
            setup.options.log.info("\(error)")
            device.snapshot.note(.policy, .failed("\(error)"))
            // The next search of the App Store asks again.
            if error.isRetryable { policyRequestedAt = nil }
        }
    }

    /// The time between two requests for the policy, in seconds. It is slightly less than a day, so that an app that is
    /// opened once a day makes a request each time.
    private static let policyWait: TimeInterval = 82_800
}
