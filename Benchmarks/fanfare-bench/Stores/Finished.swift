import Dispatch
import FanfareLoop

/// Blocks the main thread until a task has ended.
func finished<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) throws -> Value {
    let end = DispatchSemaphore(value: 0)
    let result = Locked<Result<Value, any Error>?>(nil)
    Task.detached {
        let value: Result<Value, any Error>
        do { value = .success(try await body()) } catch { value = .failure(error) }
        result.withLock { $0 = value }
        end.signal()
    }
    end.wait()
    guard let result = result.withLock({ $0 }) else { preconditionFailure("a task ends with a result") }
    return try result.get()
}
