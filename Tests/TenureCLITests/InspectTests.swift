import CommandRunner
import Foundation
import TenureJSON
import Testing

@Suite struct InspectTests {
    @Test(arguments: ["app-transaction", "transaction", "renewal-info", "notification", "receipt"])
    func `tenure inspect verifies minted artifacts if their authority is trusted`(kind: String) async throws {
        let testBed = try await TestBed()
        let file = try await testBed.mint(kind)
        let trusted = try await Command.run("inspect", "--json", "--trust", testBed.authority, file)
        #expect(trusted.status == 0)
        let json = try trusted.json()
        let names = [
            "app-transaction": "appTransaction", "renewal-info": "renewalInfo",
        ]
        #expect(json["kind"] as? String == names[kind] ?? kind)
        #expect((json["verification"] as? [String: Any])?["status"] as? String == "verified")
        #expect((json["payload"] as? [String: Any])?.isEmpty == false)

        let untrusted = try await Command.run("inspect", "--json", file)
        #expect(untrusted.status == 2)
        let verification = try #require(try untrusted.json()["verification"] as? [String: Any])
        #expect(verification["status"] as? String == "rejected")
        #expect(verification["reason"] as? String == "untrustedChain")
    }

    @Test func `tenure inspect verifies an app transaction that the App Store signed for a server`() async throws {
        let testBed = try await TestBed()
        let file = try await testBed.mint("app-transaction", "deviceVerification=", "deviceVerificationNonce=")
        let result = try await Command.run("inspect", "--json", "--trust", testBed.authority, file)
        #expect(result.status == 0, "\(result.output)\(result.errors)")
        let json = try result.json()
        #expect(json["kind"] as? String == "appTransaction")
        #expect((json["verification"] as? [String: Any])?["status"] as? String == "verified")
        let payload = try #require(json["payload"] as? [String: Any])
        #expect(payload["bundleId"] as? String == "com.example.calculator" && payload["deviceVerification"] == nil)
    }

    @Test func `tenure inspect --bundle-id rejects an artifact of another app`() async throws {
        let testBed = try await TestBed()
        let file = try await testBed.mint("app-transaction")
        let result = try await Command.run(
            "inspect", "--json", "--trust", testBed.authority, "--bundle-id", "com.example.other", file)
        #expect(result.status == 2)
        #expect((try result.json()["verification"] as? [String: Any])?["reason"] as? String == "wrongApp")
    }

    @Test func `tenure inspect --environment production rejects a sandbox artifact`() async throws {
        let testBed = try await TestBed()
        let file = try await testBed.mint("app-transaction", options: ["--environment", "sandbox"])
        #expect(try await Command.run("inspect", "--trust", testBed.authority, file).status == 0)
        let result = try await Command.run(
            "inspect", "--json", "--trust", testBed.authority, "--environment", "production", file)
        #expect((try result.json()["verification"] as? [String: Any])?["reason"] as? String == "wrongEnvironment")
    }

    @Test func `tenure inspect accepts artifacts signed by Xcode only with Xcode's certificate`() async throws {
        let testBed = try await TestBed()
        let file = try await testBed.mint("transaction", options: ["--environment", "xcode"])
        #expect(try await Command.run("inspect", "--trust", testBed.authority, file).status == 2)
        let named = try await Command.run(
            "inspect", "--json", "--environment", "xcode", "--trust", testBed.authority, file)
        #expect((try named.json()["verification"] as? [String: Any])?["status"] as? String == "local")
        #expect(try await Command.run("inspect", "--environment", "xcode", file).status == 64)
        let certificate = testBed.authority + "/xcode.pem"
        let both = ["inspect", "--environment", "xcode", "--environment", "production", "--trust"]
        #expect(try await Command.run(both + [certificate, file]).status == 64)
        let local = try await Command.run(both + ["xcode=" + certificate, file])
        let verdict = "signed in Xcode with a certificate from `--trust`; other verifiers won't accept it"
        #expect(local.status == 0 && local.output.hasPrefix("transaction\nlocal: \(verdict)\n\n"), "\(local.output)")
        #expect(
            try await Command.run("inspect", "--trust", "sandbox=" + testBed.authority, testBed.mint("transaction"))
                .status
                == 2)
    }

    @Test func `tenure inspect reads a receipt from standard input and as Base64 with line breaks`() async throws {
        let testBed = try await TestBed()
        let file = try await testBed.mint("receipt", options: ["--form", "base64"])
        let text = String(decoding: try Data(contentsOf: URL(fileURLWithPath: file)), as: UTF8.self)
        var broken = ""
        for (index, character) in text.enumerated() { broken += (index % 76 == 75 ? "\r\n" : "") + String(character) }
        let result = try await Command.run("inspect", "--trust", testBed.authority, "-", input: Data(broken.utf8))
        #expect(result.status == 0 && result.output.contains("com.example.calculator"))
        let verdict = "verified: Production, under a root that you trust"
        #expect(result.output.hasPrefix("app receipt\n\(verdict)\n\n"), "\(result.output)")
    }

    @Test func `tenure inspect shows a verifyReceipt response as unsigned`() async throws {
        let answer =
            #"{"status":0,"environment":"Production","receipt":{"bundle_id":"com.example.calculator","in_app":[]}}"#
        let result = try await Command.run("inspect", "--json", input: Data(answer.utf8))
        #expect(result.status == 2)
        let verification = [
            "status": "unsigned", "reason": "unsigned",
            "detail": "a response of verifyReceipt has no signature, so its contents can't be verified",
        ]
        #expect(try result.json()["verification"] as? [String: String] == verification)
        #expect(try result.json()["kind"] as? String == "verifyReceipt")
    }

    @Test func `tenure inspect shows control characters in an artifact as escapes`() async throws {
        let testBed = try await TestBed()
        let file = try await testBed.mint("transaction")
        let parts = try String(contentsOfFile: file, encoding: .utf8).split(separator: ".").map(String.init)
        func base64URL(_ text: String) -> String {
            Data(text.utf8).base64EncodedString().replacingOccurrences(of: "+", with: "-")
                .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
        }
        let header = try #require(parts.first)
        let named = base64URL(
            #"{"transactionId":"1","\u001b[2Jverified: Production":1,"a":[{"\u001b]0;x\u0007":[1]}]}"#)
        let unsigned = base64URL(#"{"alg":"\u001b]0;x\u0007","x5c":[]}"#)
        for (name, text) in [
            ("payload", "\(header).\(named).\(parts[2])"), ("header", "\(unsigned).\(parts[1]).\(parts[2])"),
        ] {
            let corrupted = try testBed.folder.write(text, to: name)
            for arguments in [["inspect", corrupted], ["decide", "--policy", testBed.policy, corrupted]] {
                let result = try await Command.run(arguments + ["--trust", testBed.authority])
                #expect(result.status != 0)
                let said = result.output + result.errors
                #expect(!said.unicodeScalars.contains("\u{1B}") && !said.unicodeScalars.contains("\u{7}"), "\(said)")
            }
        }
    }

    @Test func `tenure inspect shows a receipt with an unsupported signature as rejected`() async throws {
        let testBed = try await TestBed()
        for defect in ["digestMD5", "digestSHA512", "signatureECDSA"] {
            let file = try await testBed.mint("receipt", options: ["--defect", defect])
            let result = try await Command.run("inspect", "--json", "--trust", testBed.authority, file)
            #expect(result.status == 2, "\(defect): \(result.errors)")
            let json = try result.json()
            #expect(json["kind"] as? String == "receipt")
            #expect((json["verification"] as? [String: Any])?["reason"] as? String == "unsupportedAlgorithm")
        }
    }

    @Test func `tenure inspect shows an artifact with many fields without a long delay`() async throws {
        let folder = try Folder()
        let names = (0..<200_000).map { #""a\#($0)_ms":0"# }
        let file = try folder.write(
            #"{"status":0,"receipt":{},\#(names.joined(separator: ","))}"#, to: "many")
        // Comparing each name with all other names would take long.
        #expect(try await Command.run("inspect", file).output.contains("a199999_ms"))
    }

    @Test func `tenure inspect reports an unreadable file in one line`() async throws {
        let folder = try Folder()
        let large = folder.url("large")
        try Data().write(to: large)
        let handle = try FileHandle(forWritingTo: large)
        try handle.truncate(atOffset: 100 << 20)
        try handle.close()
        for (file, words) in [
            (try folder.write("", to: "empty"), "the file is empty"), (folder.path, "is a folder"),
            (folder.url("none").path, "there is no file"), (try folder.write("hello", to: "text"), "can't be read"),
            (try folder.write("{}", to: "object"), "can't be read"), (large.path, "is larger than"),
        ] {
            let result = try await Command.run("inspect", file)
            #expect(result.status == 1, "\(file)")
            #expect(result.errors.hasPrefix("error: ") && result.errors.contains(words), "\(result.errors)")
            #expect(result.errors.split(separator: "\n").count == 1 && result.output.isEmpty)
        }
    }

    @Test func `tenure inspect verifies a genuine Mac receipt under Apple's roots`() async throws {
        let real = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../shared/real/receipts/mindnode_mac_sha256_receipt").standardized
        guard FileManager.default.fileExists(atPath: real.path) else {
            print("skipped: there are no genuine artifacts here")
            return
        }
        let result = try await Command.run("inspect", "--json", real.path)
        #expect(result.status == 0)
        let payload = try #require(try result.json()["payload"] as? [String: Any])
        #expect(payload["original_application_version"] as? String == "5.0")
        #expect(payload["application_version"] as? String == "2023.2.2")
    }
}
