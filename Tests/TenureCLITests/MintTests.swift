import CommandRunner
import Foundation
import Testing

@Suite struct MintTests {
    @Test func `tenure mint sets the given fields, and an unknown field is an error with the list of fields`()
        async throws
    {
        let testBed = try await TestBed()
        let file = try await testBed.mint(
            "transaction", "productId=a.b", "price=4990", "appAccountToken=", "isUpgraded=true")
        let payload = try #require(try await Command.run("inspect", "--json", file).json()["payload"] as? [String: Any])
        #expect(payload["productId"] as? String == "a.b")
        #expect(payload["price"] as? Int == 4990)
        #expect(payload["isUpgraded"] as? Bool == true)
        #expect(payload["appAccountToken"] == nil)
        let wrong = try await Command.run(
            "mint", "transaction", "--authority", testBed.authority, "--set", "productID=a")
        #expect(wrong.status == 1)
        #expect(wrong.errors.contains("`productID`") && wrong.errors.contains("productId"))
        #expect(
            try await Command.run("mint", "transaction", "--authority", testBed.authority, "--set", "productId").status
                == 64)
    }

    @Test func `tenure mint --payload signs exactly the fields of the file, then those of --set`() async throws {
        let testBed = try await TestBed()
        let fields = try testBed.folder.write(#"{"productId": "a.b", "price": 1, "quantity": 2}"#, to: "fields.json")
        let file = try await testBed.mint("transaction", "price=4990", options: ["--payload", fields])
        let shown = try await Command.run("inspect", "--json", file).json()
        let payload = try #require(shown["payload"] as? [String: Any])
        #expect(Set(payload.keys) == ["productId", "price", "quantity"])
        #expect(payload["price"] as? Int == 4990 && payload["quantity"] as? Int == 2)
        let shape = "isn't a JSON object; write the fields as {\"name\": value}"
        for (text, words) in [("[1]", "error: `\(fields)` \(shape)\n"), ("{", "error: `\(fields)`: ")] {
            try testBed.folder.write(text, to: "fields.json")
            let wrong = try await Command.run(
                "mint", "transaction", "--authority", testBed.authority, "--payload", fields)
            #expect(wrong.status == 1 && wrong.output.isEmpty && wrong.errors.contains(words), "\(wrong)")
        }
    }

    @Test func `tenure mint receipt --payload signs exactly the fields of the file`() async throws {
        let testBed = try await TestBed()
        let fields = try testBed.folder.write(
            """
            {"receipt_type": "Production", "bundle_id": "com.example.calculator", "application_version": "1",
             "receipt_creation_date": "2015-01-01T00:00:00Z", "original_application_version": "36"}
            """, to: "fields.json")
        let file = try await testBed.mint("receipt", options: ["--payload", fields])
        let shown = try await Command.run("inspect", "--json", file).json()
        let payload = try #require(shown["payload"] as? [String: Any])
        #expect(payload["original_application_version"] as? String == "36")
        #expect(payload["application_version"] as? String == "1")
        #expect(payload["bundle_id"] as? String == "com.example.calculator")
        #expect((payload["in_app"] as? [Any])?.isEmpty == true)
        #expect(payload["original_purchase_date"] == nil && payload["download_id"] == nil)
    }

    @Test func `tenure mint refuses a device that isn't a UUID, and a defect in a BER receipt`() async throws {
        let device = try await Command.run(
            "mint", "transaction", "--authority", "authority", "--device-id", "my phone")
        #expect(device.status == 64 && device.errors.contains("`my phone` isn't a UUID"), "\(device)")
        let receipt = try await Command.run(
            "mint", "receipt", "--authority", "authority", "--defect", "tamperedContent", "--form", "ber")
        #expect(receipt.status == 64 && receipt.errors.contains("leave out `--form ber`"), "\(receipt)")
    }

    @Test func `tenure mint doesn't overwrite a test authority, and reports a missing or unreadable one`()
        async throws
    {
        let testBed = try await TestBed()
        let again = try await Command.run("mint", "authority", testBed.authority)
        #expect(again.status == 1)
        let words = "already has an authority; choose another folder, or add --force"
        #expect(again.errors == "error: `\(testBed.authority)` \(words)\n" && again.output.isEmpty)
        let none = try await Command.run("mint", "receipt", "--authority", testBed.folder.url("none").path)
        #expect(none.status == 1)
        #expect(none.errors.contains("isn't a test authority"))
        let broken = testBed.folder.url("broken")
        try FileManager.default.copyItem(atPath: testBed.authority, toPath: broken.path)
        let leaf = broken.appendingPathComponent("jws-leaf.pem")
        try FileManager.default.removeItem(at: leaf)
        try FileManager.default.createDirectory(at: leaf, withIntermediateDirectories: false)
        let unreadable = try await Command.run("mint", "receipt", "--authority", broken.path)
        #expect(unreadable.status == 1)
        #expect(unreadable.errors.contains("`jws-leaf.pem` or its key isn't a readable file; restore it"))
    }

    @Test
    func `tenure mint makes artifacts with a named defect, and lists the defects for an unknown name`() async throws {
        let testBed = try await TestBed()
        let cases = [
            ("transaction", "foreignSignature", "badSignature"),
            ("app-transaction", "missingLeafMarker", "wrongPurpose"),
            ("receipt", "tamperedContent", "badSignature"),
            ("receipt", "leafExpiredAtSigning", "outsideValidityPeriod"),
        ]
        for (kind, defect, code) in cases {
            let file = try await testBed.mint(kind, options: ["--defect", defect])
            let shown = try await Command.run("inspect", "--trust", testBed.authority, "--json", file)
            #expect(shown.output.contains("\"\(code)\""), "\(kind) \(defect): \(shown.output.suffix(400))")
        }
        for kind in ["transaction", "receipt"] {
            let ignored = try await Command.run(
                "mint", kind, "--authority", testBed.authority, "--defect", "rootExpiredAtSigning")
            #expect(ignored.status == 1 && ignored.output.isEmpty)
            #expect(ignored.errors.contains("ignores the root in the artifact"), "\(ignored.errors)")
        }
        for (kind, name) in [("transaction", "flippedPayloadBit"), ("receipt", "tamperedContent")] {
            let wrong = try await Command.run("mint", kind, "--authority", testBed.authority, "--defect", "rust")
            #expect(wrong.status == 1)
            #expect(wrong.errors.contains("`rust`") && wrong.errors.contains(name))
            #expect(wrong.errors.contains("missingLeafMarker"))
        }
        let both = try await Command.run(
            "mint", "transaction", "--authority", testBed.authority, "--defect", "audience", "--set", "price=1")
        #expect(both.status == 64)
    }

    @Test func `tenure mint writes private keys that only their owner can read`() async throws {
        let testBed = try await TestBed()
        let keys = try FileManager.default.contentsOfDirectory(atPath: testBed.authority).filter {
            $0.hasSuffix(".key.pem")
        }
        #expect(!keys.isEmpty)
        for key in keys {
            let attributes = try FileManager.default.attributesOfItem(atPath: testBed.authority + "/" + key)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
    }
}
