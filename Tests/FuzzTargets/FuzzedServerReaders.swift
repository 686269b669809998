import TenureJSON

// Internal symbols are visible only in modules built with `-enable-testing`: debug builds, and those of `Scripts/fuzz`.
#if DEBUG || FUZZING
    import Dispatch
    public import Foundation
    import LocalAppStore
    public import TenureAppStore
    import TenurePolicyFile

    /// The readers of the service, of rehearsals and of the local App Store.
    public struct FuzzedServerReaders: Sendable {
        private let service: FuzzedService
        private let lines: FuzzedLines

        public init(verifier: AppStoreVerifier, folder: String, now: Date) throws {
            service = try FuzzedService(verifier: verifier, folder: folder, now: now)
            lines = FuzzedLines(verifier: verifier, now: now)
        }

        public func notificationBody(_ input: [UInt8]) { service.notificationBody(input) }
        public func appStoreAnswer(_ input: [UInt8]) { wait { await service.appStoreAnswer(input) } }
        public func adminBody(_ input: [UInt8]) { wait { await service.adminBody(input) } }
        public func token(_ input: [UInt8]) { service.token(input) }
        public func personaPayload(_ input: [UInt8]) { service.personaPayload(input) }
        public func forwardedFor(_ input: [UInt8]) { service.forwardedFor(input) }
        public func evidenceLines(_ input: [UInt8]) { lines.read(input) }

        /// A scenario file.
        public static func scenario(_ input: [UInt8]) { _ = try? ScenarioReader.read(input, named: "scenario.yaml") }

        /// One operation or a list of them, as the control interface takes them.
        public static func operations(_ input: [UInt8]) {
            let objects: [JSONObject]
            switch try? JSONValue(parsing: input) {
            case .object(let object): objects = [object]
            case .array(let values):
                objects = values.compactMap { value in if case .object(let object) = value { object } else { nil } }
            default: return
            }
            for object in objects {
                guard let operation = try? AppStoreOperation(object), (try? operation.checkValues()) != nil else {
                    continue
                }
                guard let again = try? AppStoreOperation(operation.json), again == operation else {
                    fatalError("an operation does not survive the journal")
                }
            }
        }

        /// A release list as App Store Connect or a spreadsheet exports it.
        public static func releaseList(_ input: [UInt8]) {
            _ = try? ReleaseListFile.listed(input, named: "releases.csv")
            var mapping = ReleaseListFile.Mapping()
            mapping["name"] = .version
            mapping["price"] = .model
            _ = try? ReleaseListFile.listed(input, named: "releases.csv", mapping: mapping)
        }

        /// Reads policy cases, and runs them if they are valid.
        public static func policyCases(_ input: [UInt8], of policy: [UInt8]) {
            guard
                let cases = try? PolicyCases.read(input, named: "cases.yaml", policy: (policy, "policy.yaml"))
            else { return }
            _ = cases.run()
        }

        /// Waits for asynchronous work, because libFuzzer calls its target synchronously on one thread.
        private func wait(_ work: @escaping @Sendable () async -> Void) {
            let done = DispatchSemaphore(value: 0)
            Task {
                await work()
                done.signal()
            }
            done.wait()
        }
    }
#endif
