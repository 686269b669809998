extension ServiceConfiguration {
    /// The first mistake in the webhooks; nil if there is no mistake.
    var mistakeOfWebhooks: ServiceError? {
        for webhook in webhooks {
            if let mistake = webhook.mistake { return mistake }
            guard webhooks.filter({ $0.name == webhook.name }).count == 1 else {
                return .webhook(name: webhook.name, detail: "two webhooks have this name; use different names")
            }
        }
        let ranges = [
            ("expiringDays", webhookSettings.expiringDays, 0...365),
            ("retentionDays", webhookSettings.retentionDays, 4...3650),
            ("concurrency", webhookSettings.concurrency, 1...100),
        ]
        guard let (name, value, range) = ranges.first(where: { _, value, range in !range.contains(value) }) else {
            return nil
        }
        return .failed(
            "`webhookSettings.\(name)` must be from \(range.lowerBound) to \(range.upperBound); found \(value)")
    }
}
