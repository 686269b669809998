import Foundation

/// How long the soak tests run: a little with every `make test`, as much as they must with `make soak`.
enum SoakScale {
    static let isFull = ProcessInfo.processInfo.environment["TENURE_SOAK"] != nil
    /// How often a service is killed on each database.
    static let kills = isFull ? 200 : 4
    /// How often the database itself is.
    static let outages = isFull ? 20 : 1
    /// How many customers two services share: of each come four syncs and two or three notifications, all of them twice.
    static let sharedCustomers = isFull ? 2000 : 30
}
