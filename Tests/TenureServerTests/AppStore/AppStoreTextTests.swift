import Foundation
import HTTPTypes
import HummingbirdTesting
import LocalAppStore
import Logging
import TenureAPI
import TenureAppStore
import TenureCore
import TenureMint
import Testing

@testable import TenureServer

/// Exact rates, requests and messages of the App Store Server API.
@Suite struct `the texts and rates of the App Store Server API` {
    private func refusal(_ status: Int, _ code: Int64?, _ message: String? = nil) -> AppStoreFailure {
        .refused(
            AppStoreRefusal(
                endpoint: .orderLookup, environment: .sandbox, status: status, code: code.map(AppStoreErrorCode.init),
                message: message))
    }

    @Test func `each endpoint of the App Store has its method and its rates in production and in the sandbox`() {
        let expected: [(endpoint: AppStoreEndpoint, method: String, production: Double, sandbox: Double)] = [
            (.transactionHistory, "GET", 50, 5), (.subscriptionStatuses, "GET", 50, 5),
            (.appTransactionInfo, "GET", 50, 5), (.refundHistory, "GET", 10, 1), (.orderLookup, "GET", 10, 1),
            (.notificationHistory, "POST", 50, 5), (.requestTestNotification, "POST", 1, 0.1),
            (.testNotificationStatus, "GET", 1, 0.1),
        ]
        #expect(expected.map(\.endpoint) == AppStoreEndpoint.allCases)
        for row in expected {
            #expect(row.endpoint.method == row.method, "\(row.endpoint)")
            #expect(row.endpoint.rate(in: .production) == row.production, "\(row.endpoint)")
            #expect(row.endpoint.rate(in: .sandbox) == row.sandbox, "\(row.endpoint)")
        }
    }

    @Test func `the message of each App Store failure names the cause`() {
        let texts: [(AppStoreFailure, String)] = [
            (
                refusal(404, 4_040_010, "Not here."),
                "the App Store (Sandbox) refused orderLookup with status 404, error 4040010 (Not here.)"
            ),
            (refusal(502, nil), "the App Store (Sandbox) refused orderLookup with status 502"),
            (
                .notAuthorized(.production),
                """
                the App Store (Production) doesn't accept the key; check the issuer ID, key ID, bundle ID and this \
                machine's clock
                """
            ),
            (.unreachable("no route"), "the App Store can't be reached: no route"),
            (.timedOut(30), "the App Store didn't answer within 30 seconds"),
            (.tooLarge(limit: 100), "the App Store's response has more than 100 bytes"),
            (.unreadable("no JSON"), "the App Store's response doesn't have the documented form: no JSON"),
            (
                .throttled(until: Calculator.now),
                "no request was sent, to stay below the App Store's rate limit; try again later"
            ),
            (.invalidID, "the ID can't be one of the App Store's; check the ID"),
            (
                .notServed(.xcode),
                """
                the service accepts no artifacts from Xcode, or Apple has no server for it; check the setting \
                `environments`
                """
            ),
            (.cannotSign, "the token for the App Store can't be signed with the key; download a new key"),
            (.canceled, "the request to the App Store was canceled"),
        ]
        for (failure, text) in texts { #expect(failure.description == text) }
    }

    @Test func `a failed App Store job is retried without a limit only if the key was rejected or a retry may help`() {
        let unknown = AppStoreFailure.untrusted(Rejection(.tooManyUnknownSigners, "x"))
        let forged = AppStoreFailure.untrusted(Rejection(.badSignature, "x"))
        #expect(unknown.remedy == .retry && forged.remedy == .later && AppStoreFailure.cannotSign.remedy == .later)
        func isRetried(_ failure: AppStoreFailure) -> Bool {
            JobSchedule().nextTry(after: failure, tries: 100, now: Calculator.now, random: 0) != nil
        }
        for failure in [AppStoreFailure.cannotSign, .notAuthorized(.sandbox), unknown, .timedOut(1)] {
            #expect(isRetried(failure), "\(failure)")
        }
        for failure in [forged, .tooLarge(limit: 1), refusal(404, 4_040_010), refusal(403, nil), .canceled] {
            #expect(!isRetried(failure), "\(failure)")
        }
        let later = Calculator.now.addingTimeInterval(90)
        #expect(AppStoreFailure.throttled(until: later).retryAt == later)
        #expect(AppStoreFailure.timedOut(90).retryAt == nil)
    }

    @Test func `the log has each failed App Store job, with the number of tries and the next try`() async throws {
        let log = LogLines()
        let queue = Locked([("unreachable", 2), ("wrong", 0), ("broken", 0)])
        let postponed = Locked<[String: Date?]>([:])
        struct Broken: Error {}
        let runner = JobRunner<String>(
            next: {
                let due = queue.withLock { (jobs: inout [(String, Int)]) -> (String, Int)? in
                    jobs.isEmpty ? nil : jobs.removeFirst()
                }
                guard let (job, tries) = due else { return nil }
                if job == "broken" { throw Broken() }
                return (job, tries)
            },
            perform: { job in
                throw job == "wrong" ? AppStoreFailure.invalidID : AppStoreFailure.unreachable("no route")
            }, removeFinished: { _ in },
            postponeFailed: { job, until in postponed.withLock { $0[job] = .some(until) } },
            time: TestTime(random: 0.5).time, logger: log.logger(.info))
        #expect(
            await [runner.performNextJob(), runner.performNextJob(), runner.performNextJob(), runner.performNextJob()]
                == [true, true, false, false])
        // Three quarters of four minutes after the third try.
        let untils: [String: Date?] = ["unreachable": Calculator.now.addingTimeInterval(180), "wrong": nil]
        #expect(postponed.withLock { $0 } == untils)
        let failed = #""message":"a job for the App Store failed""#
        let unread = "the queue of jobs for the App Store can't be read or changed; trying again"
        let expected: [[String]] = [
            [
                #""level":"notice""#, failed, #""again":"2026-11-20T12:03:00Z""#, #""tries":"3""#,
                #""detail":"the App Store can't be reached: no route""#,
            ],
            [
                #""level":"error""#, failed, #""again":"never""#, #""tries":"1""#,
                #""detail":"the ID can't be one of the App Store's; check the ID""#,
            ],
            [#""level":"error""#, #""message":"\#(unread)""#],
        ]
        let texts = log.texts
        #expect(texts.count == expected.count, "\(texts)")
        for (text, parts) in zip(texts, expected) {
            for part in parts { #expect(text.contains(part), "\(text)") }
        }
    }

    @Test func `a request for sent notifications has the period in milliseconds, and the encoded token of the page`()
        async throws
    {
        try await withAppStore { asking in
            let (start, end) = (Calculator.now.addingTimeInterval(-60), Calculator.now.addingTimeInterval(-0.5))
            _ = try await asking.connection.notificationHistory(from: start, to: end, in: .production)
            await asking.appStore.answerFirst(
                with: .init(status: 200, body: #"{"hasMore":false,"notificationHistory":[]}"#))
            let page = try await asking.connection.notificationHistory(
                from: start, to: end, after: "a b&c", in: .production)
            #expect(page.notifications.isEmpty && page.paginationToken == nil && !page.hasMore)
            let asked = await asking.appStore.asked
            #expect(asked.map(\.path) == Array(repeating: "/inApps/v1/notifications/history", count: 2))
            #expect(asked.map(\.query) == [nil, "paginationToken=a%20b%26c"])
            #expect(asked.map(\.contentType) == ["application/json", "application/json"])
            for request in asked {
                #expect(request.body == #"{"startDate":1795175940000,"endDate":1795175999500}"#)
            }
        }
    }

    @Test(arguments: [
        (#"{"notificationHistory":[{"signedPayload":"x"},{}]}"#, "`notificationHistory[1].signedPayload` is missing"),
        (#"{"notificationHistory":[{"signedPayload":7}]}"#, "`notificationHistory[0].signedPayload` must be a string"),
        (
            #"{"notificationHistory":[{"signedPayload":"x","sendAttempts":[{"attemptDate":"today"}]}]}"#,
            "`notificationHistory[0].sendAttempts[0].attemptDate` must be an integer"
        ),
        (#"{"notificationHistory":["x"]}"#, "`notificationHistory` must be an array of objects"),
        (#"{"notificationHistory":"x"}"#, "`notificationHistory` must be an array"),
        (#"{"paginationToken":7}"#, "`paginationToken` must be a string"), ("{}", "`hasMore` is missing"),
        (#"{"hasMore":1}"#, "`hasMore` must be true or false"), ("7", "the body must be a JSON object"),
    ])
    func `the error about an App Store response names the field that is wrong`(body: String, detail: String)
        async throws
    {
        try await withAppStore { asking in
            await asking.appStore.answerFirst(with: .init(status: 200, body: body))
            await #expect(throws: AppStoreFailure.unreadable(detail)) {
                _ = try await asking.connection.notificationHistory(
                    from: Calculator.now.addingTimeInterval(-60), to: Calculator.now, in: .production)
            }
        }
    }

    @Test func `Retry-After of a server failure doesn't delay other requests to the App Store`() async throws {
        try await withAppStore { asking in
            let transaction = try ServerSigned.transaction("1001")
            await asking.appStore.put(.production) { $0.histories = [(["1001"], [transaction])] }
            await asking.appStore.answerFirst(with: .error(503, nil, retryAfter: "42"))
            let connection = try asking.connection(retryPolicy: RetryPolicy(attempts: 1))
            let failure = await #expect(throws: AppStoreFailure.self) {
                try await connection.transactionHistory(of: .transaction("1001"), in: .production)
            }
            #expect(failure?.retryAt == Calculator.now.addingTimeInterval(42))
            #expect(try await connection.transactionHistory(of: .transaction("1001"), in: .production).isComplete)
            #expect(asking.time.uptime == 0)
        }
    }

    @Test func `a test notification is asked for fifteen times, two seconds apart, and other failures end the test`()
        async throws
    {
        try await withAppStore { asking async throws in
            #expect(try await NotificationTest(asking.connection).run(in: .production).isEmpty)
            #expect(asking.time.sleeps.filter { $0 == 2 }.count == 15)
            #expect(await asking.appStore.asked.count == 16)
        }
        try await withAppStore { asking in
            await asking.appStore.answerFirst(
                with: .init(status: 200, body: #"{"testNotificationToken":"test-1"}"#), .error(403, 4_030_000))
            let failure = await #expect(throws: AppStoreFailure.self) {
                _ = try await NotificationTest(asking.connection).run(in: .production)
            }
            guard case .refused(let refusal)? = failure else {
                Issue.record("\(String(describing: failure))")
                return
            }
            #expect(refusal.status == 403 && refusal.endpoint == .testNotificationStatus)
        }
    }

    @Test(arguments: [
        (
            #"{"errorCode":4000006,"errorMessage":"Invalid"}"#, 400,
            "the App Store rejects this order ID; copy it from the App Store's email receipt"
        ),
        (
            #"{"errorCode":4040010,"errorMessage":"Not found"}"#, 404,
            "the App Store has no order of this app with this ID; check the ID"
        ),
        (
            #"{"errorCode":4030000,"errorMessage":"Forbidden"}"#, 403,
            "the App Store (Production) refused orderLookup with status 403, error 4030000 (Forbidden)"
        ),
        (
            #"{"signedTransactions":[]}"#, 200,
            "the App Store's response doesn't have the documented form: the response for an order has no `status`"
        ),
        (#"{"status":1}"#, 200, #"{"isValid":false,"purchases":[],"problems":[],"customers":[]}"#),
        (#"{"status":0}"#, 200, #"{"isValid":true,"purchases":[],"problems":[],"customers":[]}"#),
    ])
    func `a search by order ID asks for this order, and answers what the App Store says about it`(
        body: String, status: Int, text: String
    ) async throws {
        let asked = Locked<[String]>([])
        try await LocalStoreTestBed.run { local in
            try await withFolder { folder in
                try await local.service(
                    in: folder, key: local.key,
                    answering: { request in
                        asked.withLock { $0.append("\(request.method) \(request.url)") }
                        return .init(status: status, body: Array(body.utf8))
                    }
                ) { client, _ in
                    let admin = AdminClient(client: client, key: AdminClient.adminKey)
                    let answer = try await admin.get("/v1/admin/orders/MK%2B5")
                    #expect((answer.problem?.detail ?? answer.text) == text)
                    // Only a failure that may pass says when to try again.
                    let wait = answer.problem?.code == .busy ? "5" : nil
                    #expect(answer.response.headers[.retryAfter] == wait)
                    let url = "http://127.0.0.1:\(local.port)/inApps/v1/lookup/MK%2B5"
                    #expect(asked.withLock { $0 } == ["GET \(url)"])
                }
            }
        }
    }

    @Test func `a test notification without an attempt is asked for again, and an attempt may lack its result`()
        async throws
    {
        let payload = try ServerSigned.notification("3a4b0d0e-0000-4000-8000-000000000001", signed: Calculator.now)
        func answer(_ attempts: String) -> ImitatedAppStore.Scripted {
            .init(status: 200, body: #"{"signedPayload":"\#(payload)","sendAttempts":[\#(attempts)]}"#)
        }
        let none = answer("")
        let some = answer(#"{"attemptDate":1795176000000},{"sendAttemptResult":"TIMED_OUT"}"#)
        try await withAppStore { asking in
            await asking.appStore.answerFirst(
                with: .init(status: 200, body: #"{"testNotificationToken":"test-1"}"#), none, some)
            let attempts = try await NotificationTest(asking.connection).run(in: .production)
            #expect(
                attempts == [
                    NotificationTest.Attempt(date: Calculator.now, result: "UNKNOWN"),
                    NotificationTest.Attempt(date: nil, result: "TIMED_OUT"),
                ])
            #expect(asking.time.sleeps.filter { $0 == 2 }.count == 2)
        }
    }

    @Test func `a test notification without a key for the App Store says which settings are missing`() throws {
        let configuration = try Calculator.configuration("/tmp")
        let missing = ServiceError.appStore(
            """
            the service has no key for the App Store Server API; set `appStore.issuerID`, `appStore.keyID` and \
            `appStore.privateKeyFile`
            """)
        #expect(throws: missing) { try NotificationTest(configuration, logger: Calculator.logger) }
    }
}
