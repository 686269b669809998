import Foundation

/// The extent of the soak tests: small in `make test`, full in `make soak`.
enum SoakScale {
    private static let environment = ProcessInfo.processInfo.environment
    static let isFull = environment["TENURE_SOAK"] != nil
    /// How many times a service is killed, on each database.
    static let kills = isFull ? 200 : 4
    /// How many times the database server is killed.
    static let outages = isFull ? 20 : 1
    /// How many times a primary server fails and its standby is promoted.
    static let failovers = isFull ? 20 : 2
    /// How many times a service behind a pooler is killed, and how many requests each app sends before that.
    static let pooledKills = isFull ? 40 : 2
    static let pooledRequests = isFull ? 300 : 60
    /// How many times a database file is replaced, in each way.
    static let replacements = isFull ? 10 : 1
    /// The number of customers that two services share. Each sends four syncs, and the App Store two or three
    /// notifications about each, all of them twice.
    static let sharedCustomers = isFull ? 2000 : 30
    /// The number of customers of `PopulationRun`.
    static let populationSize = isFull ? environment["TENURE_SOAK_CUSTOMERS"].flatMap { Int($0) } ?? 20_000 : 300
}
