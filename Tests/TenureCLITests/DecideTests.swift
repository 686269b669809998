import CommandRunner
import Foundation
import Testing

@Suite struct DecideTests {
    private func outcome(_ result: Command.Result) throws -> String? {
        (try result.json()["decisions"] as? [[String: Any]])?.first?["outcome"] as? String
    }

    @Test func `tenure decide grants an owner, denies a new user, and is undetermined without evidence`() async throws {
        let testBed = try await TestBed()
        let owner = try await testBed.mint(
            "app-transaction", "originalApplicationVersion=37", "originalPurchaseDate=2014-05-01")
        let granted = try await testBed.decide(owner)
        #expect(granted.status == 0)
        #expect(try outcome(granted) == "granted")

        let newcomer = try await testBed.mint(
            "app-transaction", "originalApplicationVersion=130", "originalPurchaseDate=2016-05-01")
        let denied = try await testBed.decide(newcomer)
        #expect(denied.status == 2)
        #expect(try outcome(denied) == "denied")
        #expect(try await outcome(testBed.decide("--incomplete", newcomer)) == "undetermined")

        let nothing = try await testBed.decide()
        #expect(nothing.status == 3)
        #expect(try outcome(nothing) == "undetermined")
    }

    @Test func `tenure decide prints titles in the requested language, otherwise in the policy's first language`()
        async throws
    {
        let testBed = try await TestBed()
        let titled = try testBed.folder.write(
            TestBed.policy + "\n    title: { en: Everything, de: Alles }\n", to: "titled.yaml")
        let owner = try await testBed.mint(
            "app-transaction", "originalApplicationVersion=37", "originalPurchaseDate=2014-05-01")
        func output(_ languages: String...) async throws -> String {
            let result = try await Command.run(
                ["decide", "--policy", titled, "--trust", testBed.authority, owner] + languages)
            #expect(result.status == 0, "\(result.errors)")
            return result.output
        }
        let sentence = "is yours permanently: you got the app on May 1, 2014 (build 37), while it was sold for a price."
        #expect(try await output().contains("“Everything” \(sentence)"))
        #expect(try await output("--language", "fr", "--language", "de-AT").contains("“Alles” \(sentence)"))
        let json = try await Command.run([
            "decide", "--policy", titled, "--trust", testBed.authority, "--json", "--language", "de", owner,
        ])
        #expect(json.output.contains("“Alles” is yours"))
    }

    @Test func `tenure decide --at decides about a subscription at that instant`() async throws {
        let testBed = try await TestBed()
        let app = try await testBed.mint(
            "app-transaction", "originalApplicationVersion=130", "originalPurchaseDate=2016-05-01")
        let yearly = try await testBed.mint(
            "transaction", "productId=com.example.calculator.yearly", "type=Auto-Renewable Subscription",
            "purchaseDate=2016-05-01", "expiresDate=2017-05-01")
        let during = try await testBed.decide("--at", "2016-06-01", app, yearly)
        #expect(try outcome(during) == "granted")
        #expect(
            (try during.json()["decisions"] as? [[String: Any]])?.first?["until"] as? String == "2017-05-01T00:00:00Z")
        #expect(try await outcome(testBed.decide("--at", "2017-05-01T00:00:00Z", app, yearly)) == "denied")
    }

    @Test func `tenure decide accepts an app transaction from the App Store Server API, but not with --device-id`()
        async throws
    {
        let testBed = try await TestBed()
        let server = try await testBed.mint(
            "app-transaction", "originalApplicationVersion=37", "originalPurchaseDate=2014-05-01",
            "deviceVerification=", "deviceVerificationNonce=")
        let granted = try await testBed.decide(server)
        #expect(granted.status == 0 && granted.errors.isEmpty, "\(granted.errors)")
        #expect(try outcome(granted) == "granted")
        let device = try await testBed.decide("--device-id", "00000000-aaaa-4bbb-8ccc-000000000001", server)
        #expect(device.status == 3)
        let rejected = try #require((try device.json()["rejected"] as? [[String: Any]])?.first)
        #expect(rejected["code"] as? String == "otherDevice")
        #expect(
            rejected["detail"] as? String
                == "the app transaction isn't bound to a device, so it can't be compared with --device-id")
    }

    @Test func `tenure decide lists rejected artifacts, and doesn't use them as evidence`() async throws {
        let testBed = try await TestBed()
        let foreign = try await testBed.mint(
            "app-transaction", "bundleId=com.example.other", "originalApplicationVersion=37")
        let result = try await testBed.decide(foreign)
        #expect(result.status == 3)
        let rejected = try #require(try result.json()["rejected"] as? [[String: Any]])
        #expect(rejected.first?["code"] as? String == "wrongApp")
    }

    @Test func `tenure decide says that it ignores a notification that isn't about a customer`() async throws {
        let testBed = try await TestBed()
        let test = try await testBed.mint(
            "notification", "notificationType=TEST", "data.signedTransactionInfo=", "data.signedRenewalInfo=")
        let rejected = try #require(try await testBed.decide(test).json()["rejected"] as? [[String: Any]])
        #expect(rejected.first?["code"] as? String == "noCustomer")
        #expect(rejected.first?["detail"] as? String == "this notification (TEST) isn't about a customer")
    }

    @Test func `tenure decide calls a damaged JWS neither a JWS nor a receipt`() async throws {
        let testBed = try await TestBed()
        let file = try testBed.folder.write("eyJhbGciOiJFUzI1NiJ9.eyJ9", to: "damaged.jws")
        let rejected = try #require(try await testBed.decide(file).json()["rejected"] as? [[String: Any]])
        #expect((rejected.first?["detail"] as? String)?.hasPrefix("the file is neither a JWS") == true)
    }

    @Test func `tenure decide never mixes evidence of two environments`() async throws {
        let testBed = try await TestBed()
        let production = try await testBed.mint(
            "app-transaction", "originalApplicationVersion=37", "originalPurchaseDate=2014-05-01")
        let sandbox = try await testBed.mint("app-transaction", options: ["--environment", "sandbox"])
        let mixed = try await testBed.decide(production, sandbox)
        #expect(mixed.status == 1)
        #expect(
            mixed.errors
                == "error: the files are from Production and Sandbox, which can't be combined; select one, such as with `--environment production`\n"
        )
        #expect(mixed.output.isEmpty)
        #expect(try await testBed.decide("--environment", "production", production, sandbox).status == 0)
    }

    @Test func `tenure decide --device-id rejects an app transaction of another device`() async throws {
        let testBed = try await TestBed()
        let device = "5f1c36a4-7d0b-4d0e-9d3f-0a3a2f6f1c11"
        let file = try await testBed.mint(
            "app-transaction", "originalApplicationVersion=37", "originalPurchaseDate=2014-05-01",
            options: ["--device-id", device])
        #expect(try await testBed.decide("--device-id", device, file).status == 0)
        let id = "5F1C36A4-7D0B-4D0E-9D3F-0A3A2F6F1C12"
        let other = try await testBed.decide("--device-id", id, file)
        #expect(other.status == 3)
        let rejected = try #require((try other.json()["rejected"] as? [[String: Any]])?.first)
        #expect(rejected["code"] as? String == "otherDevice" && rejected["file"] as? String == file)
        #expect(
            rejected["detail"] as? String
                == "the app transaction is bound to another device than `\(id.lowercased())`")
    }

    @Test func `wrong usage of tenure decide exits with 64`() async throws {
        let testBed = try await TestBed()
        #expect(try await Command.run("decide").status == 64)
        #expect(try await testBed.decide("--at", "yesterday").status == 64)
        #expect(try await testBed.decide("--device-id", "mine").status == 64)
        #expect(try await testBed.decide("--environment", "moon").status == 64)
        #expect(try await testBed.decide("--entitlement", "nothing").status == 1)
    }
}
