import Foundation
import TenureCore
import Testing

@testable import Tenure

@Suite struct `The options of a client` {
    @Test func `by default, the client finishes recorded transactions and decides nothing about copies from elsewhere`()
    {
        let options = Tenure.Options()
        #expect(options.finishing == .whenRecorded && options.outsideAppStore == .undetermined)
        #expect(options.whileUndetermined == nil && options.persona == nil)
        #expect(options.folder == nil && options.accessGroup == nil)
        #expect(options.languages == Locale.preferredLanguages)
    }

    @Test func `undetermined entitlements are allowed for 72 hours by default, and not without a usable policy`() {
        var setup = Setup(access: FakeStore(), storage: MemoryStateStorage(), policy: nil)
        let error = Tenure.Error.policy(.missing(name: "tenure.json"))
        let hour = InventedApp.policy(whileUndetermined: .allow(3600))
        #expect(setup.grace(under: nil, nil) == 259_200)
        #expect(setup.grace(under: nil, error) == nil)
        #expect(setup.grace(under: hour, nil) == 3600)
        #expect(setup.grace(under: InventedApp.policy(whileUndetermined: .deny), nil) == nil)
        setup.options.whileUndetermined = .allow(60)
        #expect(setup.grace(under: nil, error) == 60 && setup.grace(under: hour, nil) == 60)
        setup.options.whileUndetermined = .deny
        #expect(setup.grace(under: nil, nil) == nil && setup.grace(under: hour, nil) == nil)
    }

    @Test func `personas that differ in anything have different names in the stored state, without a token`() {
        let date = InventedApp.date("2014-05-01")
        let personas: [Tenure.Persona] = [
            .earlyBuyer(build: "37", on: date), .earlyBuyer(build: "38", on: date),
            .earlyBuyer(build: "37", on: date.addingTimeInterval(1)), .earlyBuyer(version: "37", on: date),
            .token("37"), .token("a secret token"),
        ]
        #expect(Set(personas.map(\.storedName)).count == personas.count)
        #expect(!personas.contains { $0.storedName.contains("secret") })
        #expect(personas.map(\.token) == [nil, nil, nil, nil, "37", "a secret token"])
        #expect(personas.map { $0.evidence?.proof.originalPlatform } == [.iOS, .iOS, .iOS, .macOS, nil, nil])
        #expect(personas[1].evidence?.proof.originalAppVersion == "38")
        #expect(personas[2].evidence?.proof.originalPurchaseDate == date.addingTimeInterval(1))
    }

    @Test func `until an app transaction is read, the environment follows from how the app was installed`() {
        for signed in [nil, AppStoreEnvironment.production, .sandbox, .xcode] {
            for distribution in [Tenure.Distribution.appStore, .setapp, .direct] {
                #expect(distribution.environment(of: signed) == .production)
            }
            #expect(Tenure.Distribution.testFlight.environment(of: signed) == .sandbox)
        }
        let development = Tenure.Distribution.development
        #expect(development.environment(of: nil) == .xcode && development.environment(of: .production) == .xcode)
        #expect(development.environment(of: .sandbox) == .sandbox && development.environment(of: .xcode) == .xcode)
    }

    @Test(arguments: ["http://example.com", "ftp://localhost"])
    func `a client with a service's address without TLS isn't created`(address: String) throws {
        let url = try #require(URL(string: address))
        let key = try Signer().pinned()
        let error = Tenure.Error.serviceAddress("`\(address)` isn't an `https` address")
        #expect(throws: error) { try Tenure(service: url, key: key) }
        #expect(throws: error) { try Tenure(service: url, root: key) }
    }

    @Test(.timeLimit(.minutes(1))) func `releasing a client ends its streams`() async throws {
        var tenure: Tenure? = Device(FakeStore { $0.app = InventedApp.owner() }).start()
        let updates = try #require(tenure).updates
        let states = try #require(tenure).content["piano"].states
        tenure = nil
        for await _ in updates {}
        for await _ in states {}
    }
}
