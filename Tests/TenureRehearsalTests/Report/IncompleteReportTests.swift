import Foundation
import TenureCore
import Testing

@testable import TenureRehearsal

/// Reports about a part of the customers, about promises, and about `id`s that many Apple Accounts share.
struct IncompleteReportTests {
    /// Returns a report about customers who lose an entitlement.
    ///
    /// - Parameter customers: the products that each customer has bought.
    private func report(
        promised: Bool = false, isPartial: Bool = false, problem: RehearsalError? = nil,
        anonymousIDs: [EvidenceRehearsal.AnonymousID] = [], bought customers: [[String]] = [[]], showsIDs: Bool = false
    ) throws -> RehearsalReport {
        let old = try Population.policy(freeFrom: "120")
        let comparison = Comparison(of: try Population.policy(freeFrom: "100"), against: old, at: Population.now)
        let promise = Promise(
            entitlement: "everything",
            acquisition: AcquisitionKey(appTransactionID: "1", downloadID: nil, originalPurchaseDate: nil),
            policy: old, until: nil)
        var tally = Tally(for: comparison)
        for (index, products) in customers.enumerated() {
            let purchases = products.map { product in
                Purchase(
                    transactionID: product, productID: product, type: .nonConsumable, purchaseDate: Population.now,
                    signedDate: Population.now)
            }
            comparison.count(
                Evidence(
                    environment: .production, app: [Population.appTransaction(version: "110")], transactions: purchases,
                    purchasesAreComplete: true),
                id: "\(index + 1)", promises: promised ? [promise] : [], in: &tally)
        }
        return RehearsalReport(
            policyName: "new.yaml", oldPolicyName: "old.yaml", comparison: comparison,
            input: .evidence(name: "lines", counts: InputCounts(), badLines: nil, anonymousIDs: anonymousIDs),
            tally: tally, isPartial: isPartial, problem: problem, showsIDs: showsIDs)
    }

    private func text(_ report: RehearsalReport) -> String {
        TextReport(report).lines.map { "\($0)" }.joined(separator: "\n")
    }

    private func page(_ report: RehearsalReport) -> String {
        String(decoding: HTMLReport.bytes(of: report), as: UTF8.self)
    }

    @Test func `a rehearsal that ends early says that its report is partial, and why`() throws {
        let stopped = try report(isPartial: true)
        #expect(text(stopped).contains("PARTIAL: it was stopped. The report contains the results up to this point"))
        #expect(text(stopped).contains("No verdict: it was stopped before the end"))
        let damaged = try report(isPartial: true, problem: .damagedArchive)
        #expect(page(damaged).contains("No verdict: the input"))
        #expect(text(damaged).contains("PARTIAL: the compressed file is damaged or incomplete"))
        #expect(page(damaged).contains("Only part of the input was read: the compressed file is damaged"))
        #expect(!text(try report()).contains("PARTIAL"))
        #expect(!page(try report()).contains("Only part of the input was read"))
    }

    @Test func `only evidence that was read to its end is reported as empty`() throws {
        #expect(text(try report()).contains("lines is empty"))
        #expect(page(try report()).contains("lines is empty."))
        for partial in [try report(isPartial: true), try report(isPartial: true, problem: .damagedArchive)] {
            #expect(!text(partial).contains("is empty") && text(partial).contains("lines: 0 lines, "))
            #expect(!page(partial).contains("is empty") && page(partial).contains("lines has 0 lines: "))
        }
    }

    @Test func `a rehearsal report counts customers who lose nothing if promises are kept`() throws {
        let kept = try report(promised: true)
        #expect(kept.tally.losing == 1 && kept.tally.losingWithPromises == 0)
        #expect(text(kept).contains("  1 of the losing customers would lose nothing if promises are kept"))
        #expect(page(kept).contains("<b>1</b><span>of the losing customers would lose nothing if promises are kept"))
        let lost = try report()
        #expect(lost.tally.losing == 1 && lost.tally.losingWithPromises == 1)
        #expect(!text(lost).contains("if promises are kept"))
        #expect(!page(lost).contains("if promises are kept"))
    }

    @Test func `a rehearsal report counts the ids that many Apple Accounts share, and names them only with --identify`()
        throws
    {
        let ids = (1...4).map { EvidenceRehearsal.AnonymousID(id: "none\($0)", accounts: 10 + $0) }
        let one = try report(anonymousIDs: [ids[0]])
        #expect(text(one).contains("  1 `id` is shared by 11 Apple Accounts, so it"))
        #expect(page(one).contains("is shared by 11 Apple Accounts"))
        let several = try report(anonymousIDs: ids)
        #expect(!page(one).contains("none1") && !text(several).contains("none1"))
        let identified = try report(anonymousIDs: [ids[0]], showsIDs: true)
        #expect(page(identified).contains("none1"))
        let many = try report(anonymousIDs: ids, showsIDs: true)
        #expect(
            text(many).contains(
                "4 `id`s (`none1`, `none2`, `none3`, …) are each shared by up to 14 Apple Accounts"))
        let three = try report(anonymousIDs: Array(ids.prefix(3)), showsIDs: true)
        #expect(text(three).contains("3 `id`s (`none1`, `none2`, `none3`) are each shared"))
    }

    @Test func `a rehearsal report names five products that no entitlement lists, and counts the others`() throws {
        let products = (1...7).map { "com.example.product\($0)" }
        let remarks = try report(bought: [products]).remarks
        #expect(remarks.count { $0.contains("which no entitlement lists") } == 5)
        #expect(remarks.last?.hasPrefix("no entitlement lists 2 more products that customers have bought") == true)
        #expect(try report(bought: [Array(products.prefix(5))]).remarks.count == 5)
    }

    @Test func `a rehearsal report names the products that most customers have bought, then those with the lowest IDs`()
        throws
    {
        // The first customer has bought all eight products, and the last one only two of them.
        let customers = (1...7).map { first in
            (first...7).map { "com.example.product\($0)" } + ["com.example.other"]
        }
        let named = [("other", 7), ("product7", 7), ("product6", 6), ("product5", 5), ("product4", 4)]
        let remarks = named.map { name, count in
            "\(count) customers have bought `com.example.\(name)`, which no entitlement lists"
        }
        #expect(
            try report(bought: customers).remarks
                == remarks + [
                    "no entitlement lists 3 more products that customers have bought; the JSON report has them all"
                ])
    }
}
