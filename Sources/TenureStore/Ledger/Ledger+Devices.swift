import Foundation
import TenureCore

extension Ledger {
    /// Counts a device, and its certificate; says whether it is new. A new one beyond the limit is an event, at most once
    /// a day.
    ///
    /// `isFirst`: the customer is new, and no other device can be theirs.
    func insert(_ sighting: DeviceSighting, of customer: Customer, isFirst: Bool) throws(StoreError) -> Bool {
        let certificates: SQLValue = sighting.getsCertificate ? 1 : 0
        if !isFirst {
            let changed = try session.execute(
                """
                UPDATE devices SET last_seen = $1, certificates = certificates + $2 WHERE customer = $3 AND device = $4
                """, [milliseconds, certificates, .integer(customer.member), .text(sighting.device)])
            guard changed == 0 else { return false }
        }
        // Under who was named, so that it stays theirs where those who are one part again.
        try session.execute(
            """
            INSERT INTO devices (customer, device, first_seen, last_seen, certificates) VALUES ($1, $2, $3, $4, $5)
            ON CONFLICT DO NOTHING
            """,
            [.integer(customer.member), .text(sighting.device), milliseconds, milliseconds, certificates])
        guard !isFirst else { return true }
        let count = try devices(of: customer.id).count
        guard count > sighting.limit, try !hasEvent(.manyDevices, since: now.addingTimeInterval(-86_400), customer.id)
        else { return true }
        try append(
            .manyDevices, to: customer, detail: ["devices": String(count), "limit": String(sighting.limit)])
        return true
    }

    func devices(of customer: Int64) throws(StoreError) -> [RecordedDevice] {
        var devices: [String: RecordedDevice] = [:]
        for member in try group(of: customer) {
            let rows = try session.rows(
                "SELECT device, first_seen, last_seen, certificates FROM devices WHERE customer = $1",
                [.integer(member)])
            for row in rows {
                let seen = RecordedDevice(
                    device: try row.text(0), firstSeen: try row.instant(1), lastSeen: try row.instant(2),
                    certificates: Int(clamping: try row.integer(3)))
                devices[seen.device] = devices[seen.device].map(seen.joined) ?? seen
            }
        }
        return devices.values.sorted { ($1.lastSeen, $0.device) < ($0.lastSeen, $1.device) }
    }

    private func hasEvent(
        _ kind: RecordedEvent.Kind, since: Date, _ customer: Int64
    ) throws(StoreError) -> Bool {
        for member in try group(of: customer) {
            let row = try session.row(
                "SELECT 1 FROM events WHERE customer = $1 AND kind = $2 AND at > $3 LIMIT 1",
                [.integer(member), .text(kind.rawValue), .integer(since.millisecondsSince1970)])
            if row != nil { return true }
        }
        return false
    }
}

extension RecordedDevice {
    /// The same device, seen on two who turned out to be one.
    fileprivate func joined(with other: RecordedDevice) -> RecordedDevice {
        RecordedDevice(
            device: device, firstSeen: min(firstSeen, other.firstSeen), lastSeen: max(lastSeen, other.lastSeen),
            certificates: certificates + other.certificates)
    }
}
