import Foundation
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint

@testable import LocalAppStore

/// Many customers and their purchases, the same for the same seed. The app was sold for two years; the service runs
/// from then on, and the app is free from the third month.
struct Population: Sendable {
    let size: Int
    let header: JournalHeader
    var random: SeededRandom
    /// By day of the service, the customers who do something.
    var moments: [[Int]]
    /// Customers who had the app refunded, or got it again, and haven't opened it since. The App Store sends no
    /// notification for that.
    var unseen: Set<Int> = []
    /// Customers who opened the app once, so that the service knows when they got it.
    private(set) var opened: Set<Int> = []
    /// How many times each operation happened; impossible ones don't count.
    var happened: [String: Int] = [:]

    /// The number of days for which the service runs.
    static let days = 300
    private static let pastDays = 730

    static let bundleID = "com.example.calculator"
    static let everything = "com.example.calculator.everything"
    static let coins = "com.example.calculator.coins"
    static let monthly = "com.example.calculator.monthly"
    static let yearly = "com.example.calculator.yearly"
    static let pro = "com.example.calculator.pro"

    /// When the service begins, and when the app becomes free.
    static let begins = Date(timeIntervalSince1970: 1_767_225_600)
    private static let change = begins.addingTimeInterval(75 * 86_400)

    /// The policy of this app.
    static let policy = """
        app: { bundleID: \(bundleID), appleID: 828838134 }
        eras:
          - name: paid
            model: paid
          - name: freemium
            model: free
            begins:
              iOS:   { build: "120", at: \(change.rfc3339) }
              macOS: { version: "2.0", at: \(change.rfc3339) }
            changeover: none
        buildNumbers: increasing
        entitlements:
          everything:
            products: [\(everything), \(yearly), \(pro)]
            honors: [paid]
          cloud:
            products: [\(monthly), \(yearly), \(pro)]
          pro:
            products: [\(pro)]
        inDoubt: favorCustomer
        testEnvironments: newCustomer

        """

    init(size: Int, seed: String) {
        self.size = size
        random = SeededRandom(seed: seed.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 })
        moments = Array(repeating: [], count: Self.days)
        let start = Self.begins.addingTimeInterval(-Double(Self.pastDays) * 86_400)
        func release(_ platform: Platform, _ build: String, _ version: String, _ date: Date) -> AppStoreRelease {
            AppStoreRelease(platform: platform, build: build, version: version, releasedAt: date)
        }
        func plan(_ id: String, level: Int, price: Int64, _ period: CalendarPeriod) -> AppStoreProduct {
            AppStoreProduct(
                id: id, type: .autoRenewable, price: price, prices: ["DEU": price + 500], group: "plans", level: level,
                period: period, isFamilyShareable: true,
                offers: [
                    SubscriptionOffer(
                        type: .introductory, discount: .freeTrial, period: CalendarPeriod(days: 7)),
                    SubscriptionOffer(
                        id: "comeback", type: .winBack, discount: .payAsYouGo, period: period, count: 2, price: 990),
                    SubscriptionOffer(
                        id: "friends", type: .offerCode, discount: .payUpFront, period: CalendarPeriod(months: 3),
                        price: 1990),
                ])
        }
        header = JournalHeader(
            seed: seed, now: start,
            apps: [
                AppStoreApp(
                    bundleID: Self.bundleID, appAppleID: 828_838_134,
                    releases: [
                        release(.iOS, "37", "1.4", start), release(.macOS, "40", "1.5", start),
                        release(.iOS, "98", "1.10", Self.begins), release(.macOS, "99", "1.10", Self.begins),
                        release(.iOS, "120", "2.0", Self.change), release(.macOS, "121", "2.0", Self.change),
                    ],
                    prices: [AppPrice(from: start, price: 4990), AppPrice(from: Self.change, price: 0)],
                    products: [
                        AppStoreProduct(
                            id: Self.everything, type: .nonConsumable, price: 9990, isFamilyShareable: true),
                        AppStoreProduct(id: Self.coins, type: .consumable, price: 990),
                        plan(Self.monthly, level: 3, price: 1990, CalendarPeriod(months: 1)),
                        plan(Self.yearly, level: 2, price: 19_990, CalendarPeriod(months: 12)),
                        plan(Self.pro, level: 1, price: 4990, CalendarPeriod(months: 1)),
                    ], gracePeriodDays: 16)
            ])
    }

    func name(_ customer: Int) -> String { "customer \(customer)" }

    /// What happened before the service ran: accounts, families, buyers of the app, and the first subscribers.
    mutating func addCustomers(to state: inout AppStoreState) throws(AppStoreStateError) {
        let storefronts = Storefront.all.map(\.code)
        var family = 0
        var left = 0
        var buyers: [[Int]] = Array(repeating: [], count: Self.pastDays)
        for customer in 0..<size {
            // One in six belongs to a family of two to four.
            if left == 0, random.chance(6) {
                family += 1
                left = 2 + random.roll(3)
            }
            try state.addCustomer(
                name(customer), storefront: storefronts[random.roll(storefronts.count)],
                family: left > 0 ? "family \(family)" : nil, devices: 1 + random.roll(2))
            left = max(0, left - 1)
            if random.chance(60) { buyers[random.roll(Self.pastDays)].append(customer) }
            for _ in 0..<(1 + random.roll(4)) { moments[random.roll(Self.days)].append(customer) }
        }
        for (day, customers) in buyers.enumerated() {
            state.advance(to: header.now.addingTimeInterval(Double(day) * 86_400 + 43_200))
            for customer in customers {
                try acquire(customer, in: &state)
                let name = name(customer)
                if random.chance(12) { _ = attempt("subscribes") { try state.buy(Self.monthly, name) } }
            }
        }
        state.advance(to: Self.begins)
    }

    /// The customer's app has sent the service its artifacts.
    mutating func didOpen(_ customer: Int) {
        opened.insert(customer)
        unseen.remove(customer)
    }

    mutating func acquire(_ customer: Int, in state: inout AppStoreState) throws(AppStoreStateError) {
        let platform: Platform = random.chance(80) ? .iOS : .macOS
        try state.acquire(
            name(customer), on: platform, way: random.chance(3) ? .promoCode : .purchase,
            preorderDate: random.chance(2) ? header.now.addingTimeInterval(-86_400) : nil)
        happened["gets the app", default: 0] += 1
    }

    /// Performs an operation, and returns whether it was possible.
    mutating func attempt(_ operation: String, _ body: () throws -> Void) -> Bool {
        guard (try? body()) != nil else { return false }
        happened[operation, default: 0] += 1
        return true
    }
}

extension SeededRandom {
    mutating func chance(_ percent: Int) -> Bool { roll(100) < percent }

    /// Returns a random element. Each has a probability by its weight.
    mutating func pick<Element>(_ elements: [(Element, weight: Int)]) -> Element? {
        var left = roll(elements.reduce(0) { $0 + $1.weight })
        for (element, weight) in elements {
            left -= weight
            if left < 0 { return element }
        }
        return nil
    }
}
