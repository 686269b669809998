import TenureJSON

// Internal symbols are visible only in modules built with `-enable-testing`: debug builds, and those of `Scripts/fuzz`.
#if DEBUG || FUZZING
    import Crypto
    import Foundation
    import HTTPTypes
    import Hummingbird
    import Logging
    import NIOCore
    import NIOEmbedded
    import TenureAPI
    import TenureAppStore
    import TenureCore

    @testable import TenureServer

    /// The service's readers of untrusted bytes, without sockets and without a database.
    ///
    /// Each traps if an invariant doesn't hold.
    struct FuzzedService: Sendable {
        private let verifier: AppStoreVerifier
        private let now: Date
        private let key: SigningKeySet
        private let tokens: AccessTokenKey
        private let credentials: AppStoreCredentials

        /// Creates the service's keys in the folder.
        init(verifier: AppStoreVerifier, folder: String, now: Date) throws {
            self.verifier = verifier
            self.now = now
            key = try SigningKeyStore(folder: folder).readOrCreate(at: now).keys
            tokens = try AccessTokenKey(folder: folder, databaseID: [1, 2, 3])
            credentials = AppStoreCredentials(
                issuerID: "57246542-96fe-1a63-e053-0824d011072a", keyID: "2X9R4HXF34",
                bundleID: "com.example.calculator",
                key: P256.Signing.PrivateKey())
        }

        /// The body of `POST /v1/notifications/apple`, and what it proves.
        func notificationBody(_ input: [UInt8]) {
            guard let body = try? NotificationRequest(reading: Data(input)) else { return }
            let bytes = Array(body.signedPayload.utf8)
            guard let verified = try? verifier.verifyNotification(bytes, now: now) else { return }
            _ = NotificationContents(verified, bytes: bytes).update(of: nil)
        }

        /// A response of the App Store Server API, read as the response to each kind of request.
        func appStoreAnswer(_ input: [UInt8]) async {
            let now = now
            let connection = AppStoreClient(
                credentials, verifier: verifier,
                transport: AppStoreTransport { _ in AppStoreTransport.Answer(status: 200, body: input) },
                retryPolicy: RetryPolicy(attempts: 1),
                time: AppStoreTime(now: { now }, uptime: { 0 }, sleep: { _ in }, random: { 0.5 }),
                logger: Logger(label: "fuzz") { _ in SwiftLogNoOpLogHandler() })
            let id = AppStoreCustomerID.transaction("410000000000001")
            _ = try? await connection.transactionHistory(of: id, in: .production)
            _ = try? await connection.subscriptionStatuses(of: id, in: .production)
            _ = try? await connection.appTransaction(of: id, in: .production)
            _ = try? await connection.notificationHistory(from: now, to: now, in: .production)
            _ = try? await connection.testNotification("test", in: .production)
            _ = try? await connection.order("MVWX6Y7Z8Q")

            let refusal = AppStoreRefusal(
                AppStoreTransport.Answer(
                    status: 429, retryAfter: String(decoding: input.prefix(24), as: UTF8.self), body: input),
                to: .transactionHistory, in: .production, now: now)
            guard refusal.message?.utf8.count ?? 0 <= 200 else { fatalError("a message of any length was taken over") }
            if let instant = refusal.retryAt {
                guard instant >= now, instant <= now.addingTimeInterval(86_400) else {
                    fatalError("a server makes us wait for as long as it likes")
                }
            }
        }

        /// The body of a request by support or by the app's server, read for each of their routes.
        func adminBody(_ input: [UInt8]) async {
            await decode(GrantRequest.self, input)
            await decode(RevocationRequest.self, input)
            await decode(UserRequest.self, input)
            await decode(LinkRequest.self, input)
            await decode(MergeRequest.self, input)
            await decode(RehearseRequest.self, input)
            await decode(PublishRequest.self, input)
            _ = try? JSONDecoder().decode(TrialRequest.self, from: Data(input))
            await decode(ReadyMadePersonasRequest.self, input)
            if let persona = await decode(PersonaRequest.self, input) { try? trySettings(persona.set ?? [:]) }
            if let find = await decode(FindRequest.self, input),
                let pasted = try? PastedArtifact(find.artifact, verifiedBy: verifier, now: now)
            {
                guard pasted.ids.allSatisfy(AdminParameter.isID) else {
                    fatalError("a customer is looked for by no id")
                }
                var json = JSONWriter()
                json.value(pasted)
            }
        }

        @discardableResult
        private func decode<Body: AdminRequest>(_ type: Body.Type, _ input: [UInt8]) async -> Body? {
            let request = Request(
                head: HTTPRequest(
                    method: .post, scheme: nil, authority: nil, path: "/",
                    headerFields: [.contentType: "application/json"]),
                body: RequestBody(buffer: ByteBuffer(bytes: input)))
            let context = ServiceContext(
                source: ApplicationRequestContextSource(
                    channel: EmbeddedChannel(), logger: Logger(label: "fuzz") { _ in SwiftLogNoOpLogHandler() }))
            do {
                return try await request.decoded(type, upTo: 1 << 20, in: context)
            } catch {
                guard error is Problem else { fatalError("a body is refused without a problem: \(error)") }
                return nil
            }
        }

        /// Checks that the settings of a persona stay the same when they are written and read again.
        private func trySettings(_ settings: [String: String]) throws {
            let proof = try AppProof(settings: settings, signed: now)
            let again = try? AppProof(settings: Dictionary(uniqueKeysWithValues: proof.settings), signed: now)
            guard again == proof else { fatalError("a persona does not survive being written") }
        }

        /// A forged token of a persona, or a forged access token.
        func token(_ input: [UInt8]) {
            let text = String(decoding: input, as: UTF8.self)
            guard PersonaToken.claims(of: text, signedBy: key) == nil, tokens.token(in: text.utf8) == nil else {
                fatalError("a token was forged")
            }
        }

        /// The payload of a persona's token with a valid signature.
        func personaPayload(_ input: [UInt8]) {
            guard let text = try? key.sign(input, type: PersonaToken.type) else { return }
            _ = PersonaToken.claims(of: text, signedBy: key)
        }

        /// The header `X-Forwarded-For` behind a declared proxy.
        func forwardedFor(_ input: [UInt8]) {
            let text = String(decoding: input, as: UTF8.self)
            guard let name = HTTPField.Name("X-Forwarded-For"), let proxies = AddressBlock("127.0.0.0/8") else {
                return
            }
            var headers = HTTPFields()
            headers.append(HTTPField(name: name, value: text))
            let peer = Peer(socket: NetworkAddress("127.0.0.1"), headers: headers, proxies: [proxies])
            guard let address = peer.address, NetworkAddress(address.description) == address else {
                fatalError("an address does not read as itself")
            }
            if let block = AddressBlock(text) {
                guard AddressBlock(block.description) == block else { fatalError("a network does not read as itself") }
            }
        }
    }
#endif
