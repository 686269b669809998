import Foundation
import TenureAppStore
import TenureCore
import TenureJSON

/// Requests for a customer's transaction history and refunds, which are answered in pages.
extension ServerAPIRequest {
    /// The maximum number of transactions or notifications in a response.
    static let pageSize = 20

    /// Returns a page of the customer's transactions, in the order of their last change.
    ///
    /// - Parameter isVersion1: whether the request is to `v1/history`, which leaves out finished consumables.
    func history(isVersion1: Bool = false) throws -> JSONObject {
        let account = try account(id)
        let filter = try HistoryFilter(self)
        let order = queryValue("sort") ?? "ASCENDING"
        guard ["ASCENDING", "DESCENDING"].contains(order) else { throw ServerAPIError.invalidSort }
        let isDescending = order == "DESCENDING"
        var transactions = state.accounts[account].transactions.map { state.transactions[$0] }
            .filter { $0.app == app && filter.admits($0, in: state) }
        if isVersion1 {
            transactions.removeAll { $0.isFinished && state.products[$0.product].type == .consumable }
        }
        transactions.sort { isDescending ? $0.revision > $1.revision : $0.revision < $1.revision }
        var answer = try page(of: transactions, isDescending: isDescending)
        answer.members = appMembers.members + answer.members
        return answer
    }

    /// Returns a page of the customer's transactions that were refunded in full or in part.
    func refunds() throws -> JSONObject {
        let account = try account(id)
        let refunded = state.accounts[account].transactions.map { state.transactions[$0] }
            .filter { $0.app == app && $0.revocation != nil && $0.revocation?.type != .familyRevoke }
        return try page(of: refunded.sorted { $0.revision < $1.revision }, isDescending: false)
    }

    /// Returns the next twenty transactions after the position in the request (`revision`). The response contains the
    /// position of the last of these transactions: a later request with it gets every transaction that changed since.
    private func page(of transactions: [AppStoreTransaction], isDescending: Bool) throws -> JSONObject {
        var remaining = transactions[...]
        let revision = queryValue("revision")
        if let revision {
            guard let start = Revision(revision), start.isKnown(in: state) else {
                throw ServerAPIError.invalidRequestRevision
            }
            remaining = remaining.drop { isDescending ? $0.revision >= start.number : $0.revision <= start.number }
        }
        let page = remaining.prefix(Self.pageSize)
        return [
            "revision": .string(page.last.map { Revision(of: $0).text } ?? revision ?? Revision.none.text),
            "hasMore": .boolean(remaining.count > page.count),
            "signedTransactions": .array(try page.map { .string(try signed($0)) }),
        ]
    }
}

/// A position in a transaction history. Clients send the position back without reading it.
private struct Revision: Equatable {
    /// The `revision` of the last transaction in the response; 0 for the beginning of the history.
    let number: Int
    /// When that transaction last changed, in milliseconds since 1970.
    private let milliseconds: Int64

    /// The beginning of the history.
    static let none = Revision(number: 0, milliseconds: 0)

    var text: String { "\(milliseconds)_\(number)" }

    /// Whether an earlier response can have contained this revision. The transaction may have a later revision by now.
    func isKnown(in state: AppStoreState) -> Bool {
        if number == 0 { return self == .none }
        return number <= state.revision && milliseconds <= Int64(state.now.timeIntervalSince1970 * 1000)
    }
}

extension Revision {
    init(of transaction: AppStoreTransaction) {
        number = transaction.revision
        milliseconds = Int64(transaction.modifiedAt.timeIntervalSince1970 * 1000)
    }

    init?(_ text: String) {
        let parts = text.split(separator: "_", omittingEmptySubsequences: false)
        guard parts.count == 2, let milliseconds = Int64(parts[0]), let number = Int(parts[1]), number >= 0 else {
            return nil
        }
        self.init(number: number, milliseconds: milliseconds)
    }
}

/// The filters in a request for the history. A filter that is nil or empty admits every transaction.
private struct HistoryFilter {
    let begin: Date?
    let end: Date?
    let products: Set<String>
    let groups: Set<String>
    let types: Set<ProductType>
    let ownership: OwnershipType?
    /// True admits only transactions that were refunded or are no longer shared, false only the others.
    let isRevoked: Bool?

    init(_ request: ServerAPIRequest) throws(ServerAPIError) {
        begin = try request.milliseconds(request.queryValue("startDate"), .invalidStartDate)
        end = try request.milliseconds(request.queryValue("endDate"), .invalidEndDate)
        if let begin, let end, begin >= end { throw .startDateAfterEndDate }
        products = Set(request.queryValues("productId"))
        guard !products.contains("") else { throw .invalidProductID }
        groups = Set(request.queryValues("subscriptionGroupIdentifier"))
        guard !groups.contains("") else { throw .invalidSubscriptionGroup }
        types = Set(
            try request.queryValues("productType").map { name throws(ServerAPIError) in
                guard let type = Self.types[name] else { throw .invalidProductType }
                return type
            })
        ownership = try request.queryValue("inAppOwnershipType").map { name throws(ServerAPIError) in
            guard let ownership = OwnershipType(rawValue: name) else { throw .invalidInAppOwnershipType }
            return ownership
        }
        let isRevoked = try Self.flag(request.queryValue("revoked"), .invalidRevoked)
        // Version 1 of the history has this parameter instead of `revoked`.
        let excludesRevoked = try Self.flag(request.queryValue("excludeRevoked"), .invalidExcludeRevoked) ?? false
        self.isRevoked = isRevoked ?? (excludesRevoked ? false : nil)
    }

    private static let types: [String: ProductType] = [
        "AUTO_RENEWABLE": .autoRenewable, "NON_RENEWABLE": .nonRenewing, "CONSUMABLE": .consumable,
        "NON_CONSUMABLE": .nonConsumable,
    ]

    /// Reads `true` or `false` in upper or lower case, because Apple's library for Python writes `True`.
    private static func flag(_ text: String?, _ error: ServerAPIError) throws(ServerAPIError) -> Bool? {
        guard let text else { return nil }
        guard let flag = Bool(text.lowercased()) else { throw error }
        return flag
    }

    /// Whether all filters admit a transaction.
    func admits(_ transaction: AppStoreTransaction, in state: AppStoreState) -> Bool {
        let product = state.products[transaction.product]
        if let begin, transaction.purchaseDate < begin { return false }
        if let end, transaction.purchaseDate >= end { return false }
        if !products.isEmpty, !products.contains(product.id) { return false }
        if !groups.isEmpty, !groups.contains(state.groupID(ofProduct: transaction.product) ?? "") { return false }
        if !types.isEmpty, !types.contains(product.type) { return false }
        if let ownership, transaction.isFamilyShared != (ownership == .familyShared) { return false }
        if let isRevoked, (transaction.revocation != nil) != isRevoked { return false }
        return true
    }
}
