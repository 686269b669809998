import Foundation
import TenureAPI
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint

/// The history of an invented customer: everything that the App Store sends about them, and what they own at the end.
struct SimulatedLife {
    /// What the service receives about the customer.
    enum Event {
        case notification(String)
        case sync(SyncRequest)
    }

    let acquisition: String
    private(set) var events: [Event] = []
    /// The original transaction IDs that find the customer.
    private(set) var originals: Set<String> = []
    /// The entitlements that the customer must have at the end, computed without signed artifacts.
    private(set) var granted: Set<String> = []

    static let day: TimeInterval = 86_400
    private static let basic = "com.example.calculator.basic"
    private static let pro = "com.example.calculator.pro"
    private static let season = "com.example.calculator.season"
    private static let coins = "com.example.calculator.coins"

    static func policy() throws -> Policy {
        try Policy(
            app: Policy.App(bundleID: "com.example.calculator", appleID: 828_838_134),
            eras: [
                Era(name: "paid", model: .paid),
                Era(
                    name: "freemium", model: .free,
                    begins: [.iOS: .at(version: AppVersion("120"), date: Date(timeIntervalSince1970: 1_433_959_200))],
                    changeover: .noWindow),
            ],
            buildNumbers: .increasing,
            entitlements: [
                Entitlement(name: "basic", products: [.init(id: basic), .init(id: pro)]),
                Entitlement(name: "pro", products: [.init(id: pro)]),
                Entitlement(
                    name: "everything", products: [.init(id: Calculator.everything)], honors: [Honor(era: "paid")]),
                Entitlement(name: "season", products: [.init(id: season, length: CalendarPeriod(months: 3))]),
                Entitlement(name: "coins", products: [.init(id: coins)]),
            ])
    }

    /// The latest signing date; the time after it is reserved for the sync.
    private let end = Calculator.now.addingTimeInterval(-600)
    private var random: SeededRandom
    private var clock: Date
    private var counter = 0
    private let number: UInt64
    private var all: [SimulatedPurchase] = []

    init(seed: UInt64) throws {
        number = seed
        random = SeededRandom(seed: seed &* 0x9E37_79B9 &+ 7)
        acquisition = "704\(1_000_000_000 + seed)"
        clock = Calculator.now
        if chance(70) { try subscribe(isFamilyShared: false) }
        if chance(25) { try subscribe(isFamilyShared: true) }
        if chance(50) { try buyOnce(Calculator.everything, .nonConsumable, gives: "everything") }
        if chance(35) { try buyOnce(Self.coins, .consumable, gives: nil) }
        if chance(35) { try buyOnce(Self.season, .nonRenewing, gives: "season", length: 3) }
        clock = end - 60
        if chance(30) { try addNotification("TEST") }
        if events.isEmpty { try buyOnce(Calculator.everything, .nonConsumable, gives: "everything") }
        if chance(30) { try sync() }
    }

    // MARK: Random choices

    private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    private mutating func days(_ range: ClosedRange<Double>) -> TimeInterval {
        // The App Store's periods are whole seconds.
        (Double.random(in: range, using: &random) * Self.day).rounded()
    }

    private mutating func newID() -> String {
        counter += 1
        return "41\(number)00\(counter)"
    }

    // MARK: Signed artifacts

    private func minter(at instant: Date) -> JWSMinter { Calculator.minter(signed: instant) }

    /// Adds a notification, signed at `clock`. The clock then advances, because the App Store never signs two artifacts
    /// about one purchase at the same instant.
    private mutating func addNotification(
        _ type: String, _ subtype: String? = nil, of purchase: SimulatedPurchase? = nil,
        renewal: SimulatedRenewal? = nil
    ) throws {
        counter += 1
        clock += 1
        let uuid = "00000000-0000-4000-8000-\(String(format: "%012d", Int(number) * 10_000 + counter))"
        events.append(
            .notification(
                try minter(at: clock).notification(type, subtype, uuid: uuid, of: purchase, renewal: renewal)))
        if let purchase {
            originals.insert(purchase.original)
            all.removeAll { $0.id == purchase.id }
            all.append(purchase)
        }
    }

    /// Adds what the customer's device sends: the app transaction, and each purchase as the App Store now signs it.
    private mutating func sync() throws {
        clock = Calculator.now.addingTimeInterval(-300)
        let minter = minter(at: clock)
        var bought = all
        for index in bought.indices { bought[index].acquisition = acquisition }
        let isEarly = chance(50)
        events.append(
            .sync(
                SyncRequest(
                    appTransaction: try minter.text(
                        .appTransaction,
                        [
                            "appTransactionId": .string(acquisition),
                            "originalApplicationVersion": .string(isEarly ? "37" : "300"),
                            "originalPurchaseDate": .instant(
                                Date(timeIntervalSince1970: isEarly ? 1_400_000_000 : 1_600_000_000)),
                        ]),
                    transactions: try bought.map { try minter.text(.transaction, $0.fields(signed: clock)) },
                    deviceVerificationID: Calculator.device.uuidString)))
        if isEarly { granted.insert("everything") }
    }

    // MARK: Purchases of one transaction

    private mutating func buyOnce(_ product: String, _ type: ProductType, gives: String?, length: Int? = nil) throws {
        clock = end - days(5...200)
        let id = newID()
        var purchase = SimulatedPurchase(
            id: id, original: id, product: product, type: type, purchased: clock, isFamilyShared: chance(20),
            acquisition: chance(85) ? acquisition : nil)
        if chance(30) { purchase.token = "9b2f0e52-6c0c-4a53-9a0f-\(String(format: "%012d", number))" }
        try addNotification("ONE_TIME_CHARGE", of: purchase)
        while chance(45), clock < end - 3 * Self.day {
            clock += days(0.1...2)
            switch (purchase.revoked, Int.random(in: 0..<3, using: &random)) {
            case (nil, 0):
                try addNotification("CONSUMPTION_REQUEST", of: purchase)
                if chance(50) { try addNotification("REFUND_DECLINED", of: purchase) }
            case (nil, 1):
                purchase.revoked = clock
                try addNotification(purchase.isFamilyShared ? "REVOKE" : "REFUND", of: purchase)
            case (nil, _): try addNotification("SOMETHING_NEW", "OF_NEXT_YEAR", of: purchase)
            case (.some, _):
                purchase.revoked = nil
                try addNotification("REFUND_REVERSED", of: purchase)
            }
        }
        guard let gives, purchase.revoked == nil else { return }
        if let length, CalendarPeriod(months: length).end(from: purchase.purchased) <= Calculator.now { return }
        granted.insert(gives)
    }

    // MARK: Subscriptions

    private mutating func subscribe(isFamilyShared: Bool) throws {
        clock = end - days(20...260)
        var life = Subscription(
            original: newID(), acquisition: chance(85) ? acquisition : nil, isFamilyShared: isFamilyShared)
        let subtype = chance(50) ? "INITIAL_BUY" : "RESUBSCRIBE"
        try begin(chance(60) ? Self.basic : Self.pro, in: &life, at: clock)
        try addNotification("SUBSCRIBED", subtype, life)
        while clock < end - 2 * Self.day { try live(&life) }
        // The latest-signed state applies, and gives the rights that Apple's rules define.
        for purchase in life.periods {
            let runs = (purchase.expires ?? .distantPast) > Calculator.now
            let isCurrent = purchase.id == life.periods.last?.id
            let hasGrace = isCurrent && (life.renewal.grace ?? .distantPast) > Calculator.now
            guard purchase.revoked == nil, !purchase.isUpgraded, runs || hasGrace else { continue }
            granted.insert("basic")
            if purchase.product == Self.pro { granted.insert("pro") }
        }
    }

    /// A subscription of the customer with all its periods.
    private struct Subscription {
        var original: String
        var acquisition: String?
        var isFamilyShared: Bool
        var periods: [SimulatedPurchase] = []
        var renewal: SimulatedRenewal

        init(original: String, acquisition: String?, isFamilyShared: Bool) {
            self.original = original
            self.acquisition = acquisition
            self.isFamilyShared = isFamilyShared
            renewal = SimulatedRenewal(original: original, product: "", next: "", acquisition: acquisition)
        }

        var current: SimulatedPurchase? { periods.last }
    }

    private mutating func begin(_ product: String, in life: inout Subscription, at start: Date) throws {
        life.periods.append(
            SimulatedPurchase(
                id: life.periods.isEmpty ? life.original : newID(), original: life.original, product: product,
                type: .autoRenewable, purchased: start, expires: start + 30 * Self.day,
                isFamilyShared: life.isFamilyShared, acquisition: life.acquisition))
        life.renewal.product = product
        life.renewal.next = product
        life.renewal.renews = true
        life.renewal.grace = nil
        life.renewal.isInBillingRetry = false
    }

    private mutating func addNotification(_ type: String, _ subtype: String? = nil, _ life: Subscription) throws {
        try addNotification(type, subtype, of: life.current, renewal: life.renewal)
    }

    /// Lets one random event happen.
    private mutating func live(_ life: inout Subscription) throws {
        guard let current = life.current, let expires = current.expires else { return }
        let last = life.periods.count - 1
        guard current.revoked == nil, clock < expires else {
            // The subscription has ended. The customer may come back later.
            clock += days(1...40)
            guard chance(50), clock < end else { return }
            try begin(chance(50) ? Self.basic : Self.pro, in: &life, at: clock)
            try addNotification("SUBSCRIBED", "RESUBSCRIBE", life)
            return
        }
        switch Int.random(in: 0..<14, using: &random) {
        case 0...3:
            // A renewal is signed up to a day before its period begins.
            clock = max(clock + 1, expires - days(0...1))
            guard clock < end else { return }
            try begin(life.renewal.next, in: &life, at: expires)
            try addNotification("DID_RENEW", nil, life)
        case 4: try fail(&life, at: expires)
        case 5 where current.product == Self.basic && clock >= current.purchased:
            clock += days(0.5...5)
            guard clock < min(expires, end) else { return }
            life.periods[last].isUpgraded = true
            try begin(Self.pro, in: &life, at: clock)
            try addNotification(chance(80) ? "DID_CHANGE_RENEWAL_PREF" : "OFFER_REDEEMED", "UPGRADE", life)
        case 6 where current.product == Self.pro:
            life.renewal.next = Self.basic
            try addNotification("DID_CHANGE_RENEWAL_PREF", "DOWNGRADE", life)
            if chance(40) {
                life.renewal.next = Self.pro
                try addNotification("DID_CHANGE_RENEWAL_PREF", nil, life)
            }
        case 7:
            // A refund of an old period ends nothing else.
            guard let index = life.periods.dropLast().indices.randomElement(using: &random) else { return }
            life.periods[index].revoked = clock
            try addNotification("REFUND", of: life.periods[index], renewal: life.renewal)
        case 8:
            life.periods[last].revoked = clock + 1
            try addNotification(life.isFamilyShared ? "REVOKE" : "REFUND", nil, life)
            if chance(50), !life.isFamilyShared {
                life.periods[last].revoked = nil
                try addNotification("REFUND_REVERSED", nil, life)
            }
        case 9:
            life.periods[last].expires = expires + days(3...20)
            try addNotification("RENEWAL_EXTENDED", nil, life)
        case 10:
            life.renewal.renews = false
            try addNotification("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", life)
            if chance(50) {
                life.renewal.renews = true
                try addNotification("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED", life)
            } else {
                clock = max(clock, expires)
                if clock < end { try addNotification("EXPIRED", "VOLUNTARY", life) }
            }
        case 11:
            try addNotification("PRICE_INCREASE", "PENDING", life)
            if chance(50) { try addNotification("PRICE_INCREASE", "ACCEPTED", life) }
        case 12: try addNotification("CONSUMPTION_REQUEST", nil, life)
        default: try addNotification("SOMETHING_NEW", chance(50) ? "OF_NEXT_YEAR" : nil, life)
        }
        clock += days(0.1...6)
    }

    /// Adds a failed payment.
    private mutating func fail(_ life: inout Subscription, at expires: Date) throws {
        clock = max(clock, expires)
        guard clock < end else { return }
        let hasGrace = chance(50)
        life.renewal.isInBillingRetry = true
        life.renewal.grace = hasGrace ? expires + 16 * Self.day : nil
        try addNotification("DID_FAIL_TO_RENEW", hasGrace ? "GRACE_PERIOD" : nil, life)
        clock += days(1...15)
        guard clock < end else { return }
        if chance(50) {
            try begin(life.renewal.next, in: &life, at: clock)
            try addNotification("DID_RENEW", "BILLING_RECOVERY", life)
            return
        }
        if hasGrace {
            clock = max(clock, expires + 16 * Self.day)
            guard clock < end else { return }
            life.renewal.grace = nil
            try addNotification("GRACE_PERIOD_EXPIRED", nil, life)
        }
        clock += days(1...20)
        guard clock < end else { return }
        life.renewal.isInBillingRetry = false
        try addNotification("EXPIRED", "BILLING_RETRY", life)
    }
}
