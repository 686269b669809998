import Foundation

/// Connects to several servers at once, and reads the state of each (`PostgresServerState`).
final class PostgresProbe: @unchecked Sendable {
    // `Locked` can't wait until another thread changes the value. `receivedAnswers` and `isOver` are used only while
    // the condition is locked. A connection is made on one thread, put into `receivedAnswers`, and used only by the
    // thread that takes it out.
    private let hosts: [PostgresHost]
    private let address: PostgresAddress
    private let role: PostgresConnection.Role
    private let condition = NSCondition()
    /// The answers so far. `index` is the position of the host in `hosts`.
    private var receivedAnswers: [(index: Int, answer: Answer)] = []
    /// Whether `answers` has stopped waiting. Later answers are dropped.
    private var isOver = false

    /// The connection to one host, or the failure to connect.
    typealias Answer = Result<PostgresConnection, PostgresFailure>

    init(of hosts: [PostgresHost], at address: PostgresAddress, for role: PostgresConnection.Role) {
        self.hosts = hosts
        self.address = address
        self.role = role
    }

    /// Once a server that accepts writes has answered, how many seconds to wait for the other servers: one of them may
    /// have been promoted later.
    private static let grace = 1.0

    /// Connects to all hosts. Returns the answers in the order of `hosts`, without the hosts that took too long.
    func answers() -> [Answer] {
        // With a single host, this thread connects.
        guard hosts.count > 1 else { return hosts.map { ask($0) } }
        for (index, host) in hosts.enumerated() {
            DispatchQueue(label: "tenure.postgres.probe").async { [self] in recordAnswer(ask(host), of: index) }
        }
        // The connect timeout applies twice: to connecting, and to reading the server's state.
        var deadline = Date().addingTimeInterval(Double(2 * address.connectTimeout) + 1)
        condition.lock()
        defer { condition.unlock() }
        var hasWriter = false
        while receivedAnswers.count < hosts.count {
            if !hasWriter, receivedAnswers.contains(where: { (try? $0.answer.get())?.server.takesWrites == true }) {
                hasWriter = true
                deadline = min(deadline, Date().addingTimeInterval(Self.grace))
            }
            guard condition.wait(until: deadline) else { break }
        }
        isOver = true
        defer { receivedAnswers = [] }
        return receivedAnswers.sorted { $0.index < $1.index }.map(\.answer)
    }

    /// Connects to one host. Blocks the thread until the host answers, or until a timeout.
    private func ask(_ host: PostgresHost) -> Answer {
        Result { () throws(PostgresFailure) in try PostgresConnection(to: address, at: host, for: role) }
    }

    private func recordAnswer(_ answer: Answer, of index: Int) {
        condition.lock()
        defer { condition.unlock() }
        guard !isOver else { return }
        receivedAnswers.append((index, answer))
        condition.signal()
    }
}
