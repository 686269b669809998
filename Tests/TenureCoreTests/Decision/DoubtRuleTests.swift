import Foundation
import Testing

@testable import TenureCore

/// What `inDoubt` and unreliable versions change.
@Suite struct DoubtRuleTests {
    @Test func `a purchase date overrides an authoritative version only under inDoubt: favorCustomer`() throws {
        let eras = [
            Era(name: "free", model: .free),
            Era(
                name: "paid", model: .paid,
                begins: [.iOS: .at(version: AppVersion("50"), date: date("2013-01-01"))], changeover: .noWindow),
        ]
        // The build is of the free era and the date of the paid one.
        let proof = Calculator.app("37", "2014-05-01")
        func decision(_ inDoubt: Policy.InDoubt) throws -> Decision {
            try Calculator.decide(
                Calculator.evidence([proof]), under: try Calculator.policy(eras: eras, inDoubt: inDoubt))
        }
        #expect(try decision(.favorCustomer).outcome == .granted)
        #expect(try decision(.undetermined).outcome == .denied)
    }

    @Test func `a version is authoritative only if it is authoritative on every possible platform`() throws {
        let policy = try Calculator.policy()
        let version = try #require(AppVersion("37"))
        func proof(_ platform: Platform) throws -> VersionProof {
            VersionProof(of: version, on: try #require(policy.timelines.possible(for: platform).first))
        }
        let phone = try proof(.iOS)
        let television = try proof(.tvOS)
        #expect(phone.isAuthoritative && !television.isAuthoritative, "tvOS inherits the boundary of iOS")
        for proofs in [[phone, television], [television, phone]] {
            var united = VersionProof()
            for proof in proofs { united.unite(with: proof) }
            #expect(!united.isAuthoritative)
        }
    }

    @Test func `versions in a release list inherited from iOS aren't authoritative`() throws {
        let eras = [
            Era(name: "paid", model: .paid),
            Era(
                name: "freemium", model: .free,
                begins: [
                    .iOS: .at(version: AppVersion("120"), date: Calculator.iOSChange),
                    .tvOS: .at(version: AppVersion("120"), date: Calculator.iOSChange),
                ], changeover: .noWindow),
        ]
        let releases = [("37", "2014-01-01"), ("120", "2015-06-10")].map { build, day in
            Release(
                platform: .iOS, version: nil, build: AppVersion(build),
                releasedAt: CivilDay(day).map { .day($0) } ?? .undated)
        }
        let policy = try Calculator.policy(eras: eras, releases: releases)
        let version = try #require(AppVersion("37"))
        for (platform, isAuthoritative) in [(Platform.iOS, true), (.tvOS, false)] {
            let timeline = try #require(policy.timelines.possible(for: platform).first)
            #expect(VersionProof(of: version, on: timeline).isAuthoritative == isAuthoritative, "\(platform)")
        }
    }

    @Test func `a rehearsal counts a customer if version and date of one acquisition prove different eras`() throws {
        let policy = try Calculator.policy()
        func contradicts(_ proofs: AppProof..., in environment: AppStoreEnvironment = .production) -> Bool {
            Calculator.evidence(proofs, environment: environment).hasContradictingProofs(under: policy)
        }
        let (owner, newcomer) = (Calculator.app("37", "2014-05-01"), Calculator.app("120", "2016-02-01"))
        let late = Calculator.app("37", "2016-02-01")
        let other = AcquisitionID.appTransaction("700000000000002")
        #expect(contradicts(late) && contradicts(Calculator.app("120", "2014-05-01")))
        #expect(!contradicts(owner) && !contradicts(newcomer))
        // The price may have changed before the version, and an unknown version or date proves nothing.
        #expect(!contradicts(Calculator.app("37", "2015-06-11")))
        #expect(!contradicts(Calculator.app("37", nil)) && !contradicts(Calculator.app(nil, "2016-02-01")))
        // Two acquisitions of different eras don't contradict each other, but each may contradict itself.
        #expect(!contradicts(owner, Calculator.app("120", "2016-02-01", id: other)))
        #expect(contradicts(owner, Calculator.app("37", "2016-02-01", id: other)))
        #expect(!contradicts(late, in: .sandbox) && !contradicts())
    }
}
