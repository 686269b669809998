/// Every metric of the service, in the order in which `GET /metrics` reports them, with its help text.
enum MetricName: String, CaseIterable {
    case start = "process_start_time_seconds"
    case residentMemory = "process_resident_memory_bytes"
    case requestsInFlight = "tenure_requests_in_flight"
    case requests = "tenure_requests_total"
    case requestDuration = "tenure_request_duration_seconds"
    case artifactsCounted = "tenure_sync_artifacts_counted_total"
    case artifactsRejected = "tenure_sync_artifacts_rejected_total"
    case decisions = "tenure_decisions_total"
    case notifications = "tenure_notifications_total"
    case webhookAttempts = "tenure_webhook_attempts_total"
    case webhooksWaiting = "tenure_webhook_deliveries_waiting"
    case oldestWebhook = "tenure_webhook_oldest_delivery_seconds"
    case slowClients = "tenure_slow_clients_total"
    case closedForRoom = "tenure_connections_closed_for_room_total"
    case bodiesDropped = "tenure_bodies_dropped_total"
    case downloads = "tenure_downloads_total"
    case downloadsInProgress = "tenure_downloads_in_progress"
    case downloadBytes = "tenure_download_bytes_total"
    case downloadsRejected = "tenure_downloads_rejected_total"
    case databaseBytes = "tenure_database_bytes"
    case databaseConnections = "tenure_database_connections"
    case databaseConnectionLimit = "tenure_database_connection_limit"
    case databaseOperationsWaiting = "tenure_database_operations_waiting"
    case certificateEnd = "tenure_certificate_expires_seconds"
    case signingPeriodEnd = "tenure_signing_period_ends_seconds"
    case historiesWaiting = "tenure_app_store_histories_waiting"
    case notificationsReached = "tenure_app_store_notifications_reached_seconds"

    /// The description of the metric in the response to `GET /metrics`.
    var help: String {
        switch self {
        case .start: "Start of the process, in seconds since 1970."
        case .residentMemory: "Memory that the process uses, in bytes."
        case .requestsInFlight: "Requests in progress."
        case .requests: "Answered requests, by method, route and status."
        case .requestDuration:
            "Seconds from the head of a request until its response is ready to be sent, by method and route."
        case .artifactsCounted: "Artifacts that syncs contained and the service accepted."
        case .artifactsRejected: "Artifacts that syncs contained and the service rejected, by error code."
        case .decisions: "Decisions in responses to clients, by outcome and deciding reason."
        case .notifications: "App Store Server Notifications that were stored for the first time, by type."
        case .webhookAttempts: "Attempts to deliver a webhook, by endpoint and result."
        case .webhooksWaiting: "Webhook deliveries that have neither arrived nor been abandoned, by endpoint."
        case .oldestWebhook: "When the oldest waiting webhook delivery was queued, in seconds since 1970, by endpoint."
        case .slowClients:
            "Connections closed because the client sent its request or read the response too slowly, by phase."
        case .closedForRoom: "Connections closed because there were too many, by phase."
        case .bodiesDropped: "Request bodies dropped to make room for other request bodies."
        case .downloads: "Downloads of content that began."
        case .downloadsInProgress: "Downloads of content in progress."
        case .downloadBytes: "Bytes of content that were sent."
        case .downloadsRejected:
            "Downloads rejected because there were too many, by reason: of one customer, or in total."
        case .databaseBytes: "Size of the SQLite database's files in bytes, by file."
        case .databaseConnections: "This process's open connections to the app's PostgreSQL database, by purpose."
        case .databaseConnectionLimit:
            "The most connections that this process opens to the database server, by purpose."
        case .databaseOperationsWaiting: "Operations that wait for a connection to the database server, by purpose."
        case .certificateEnd: "When the TLS certificate expires, in seconds since 1970."
        case .signingPeriodEnd: "When the signing period of the signing key ends, in seconds since 1970."
        case .historiesWaiting: "Customers with a history still to fetch from the App Store."
        case .notificationsReached:
            "Instant up to which no notification is missing, in seconds since 1970, by environment."
        }
    }
}
