extension ServiceConfiguration {
    /// The first mistake in the webhooks; nil without one.
    var mistakeOfWebhooks: ServiceError? {
        for webhook in webhooks {
            if let mistake = webhook.mistake { return mistake }
            guard webhooks.filter({ $0.name == webhook.name }).count == 1 else {
                return .webhook(name: webhook.name, detail: "two webhooks have this name; use different names")
            }
        }
        let settings = webhookSettings
        guard (0...365).contains(settings.expiringDays), (4...3650).contains(settings.retentionDays),
            (1...100).contains(settings.concurrency)
        else {
            return .failed(
                "`expiringDays` must be 0 to 365, `webhookRetentionDays` 4 to 3650, and concurrent deliveries 1 to 100")
        }
        return nil
    }
}
