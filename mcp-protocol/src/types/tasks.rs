//! Requests that are answered later. 2025-11-25 only, where they are an experiment.
//!
//! Spec: [tasks](https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks).

use super::ResultType;
use crate::meta::{NotificationMeta, RequestMeta, ResultMeta};
use crate::wire::{wire, words};

wire! {
    /// Asks for a task instead of a result.
    pub open struct TaskMetadata {
        /// How long it should be kept, in milliseconds from its creation.
        integer "ttl" => ttl: u64,
    }

    /// How a task is going. Also the parameters of `notifications/tasks/status`.
    pub open struct Task {
        /// Which task.
        required "taskId" => task_id: String,
        /// How it is going.
        required "status" => status: TaskStatus,
        /// When it was created, in ISO 8601.
        required "createdAt" => created_at: String,
        /// When it last changed, in ISO 8601.
        required "lastUpdatedAt" => last_updated_at: String,
        /// How long it is kept, in milliseconds from its creation; `None`, which is written
        /// as `null`, is for ever.
        required "ttl" => ttl: Option<u64>,
        /// How it is going, for people.
        optional "statusMessage" => status_message: String,
        /// How often to ask, in milliseconds.
        integer "pollInterval" => poll_interval: u64,
        /// Reserved and foreign metadata.
        optional "_meta" => meta: NotificationMeta,
    }
}

words! {
    /// How a task is going.
    pub enum TaskStatus {
        /// It is.
        Working = "working",
        /// It waits for an answer.
        InputRequired = "input_required",
        /// It has ended, with a result.
        Completed = "completed",
        /// It has ended, with an error.
        Failed = "failed",
        /// It was cancelled.
        Cancelled = "cancelled",
    }
}

wire! {
    /// The result of a request that asked for a task.
    pub open struct CreateTaskResult {
        /// The task.
        required "task" => task: Task,
        /// What kind of result this is. No revision that has tasks of this kind has it.
        optional "resultType" => result_type: ResultType,
        /// Reserved and foreign metadata.
        optional "_meta" => meta: ResultMeta,
    }

    /// The parameters of `tasks/get`, `tasks/result` and `tasks/cancel`.
    pub open struct TaskParams {
        /// Which task.
        required "taskId" => task_id: String,
        /// Reserved and foreign metadata.
        optional "_meta" => meta: RequestMeta,
    }

    /// The result of `tasks/get` and `tasks/cancel`: a [`Task`] that is a result.
    pub open struct TaskResult {
        /// Which task.
        required "taskId" => task_id: String,
        /// How it is going.
        required "status" => status: TaskStatus,
        /// When it was created, in ISO 8601.
        required "createdAt" => created_at: String,
        /// When it last changed, in ISO 8601.
        required "lastUpdatedAt" => last_updated_at: String,
        /// How long it is kept, in milliseconds from its creation; `None`, which is written
        /// as `null`, is for ever.
        required "ttl" => ttl: Option<u64>,
        /// How it is going, for people.
        optional "statusMessage" => status_message: String,
        /// How often to ask, in milliseconds.
        integer "pollInterval" => poll_interval: u64,
        /// What kind of result this is. No revision that has tasks of this kind has it.
        optional "resultType" => result_type: ResultType,
        /// Reserved and foreign metadata.
        optional "_meta" => meta: ResultMeta,
    }

    /// The result of `tasks/result`: the members of the result that was waited for.
    pub open struct TaskPayload {
        /// What kind of result this is. No revision that has tasks of this kind has it.
        optional "resultType" => result_type: ResultType,
        /// Reserved and foreign metadata.
        optional "_meta" => meta: ResultMeta,
    }

    /// The result of `tasks/list`.
    pub open struct ListTasksResult {
        /// The tasks on this page.
        required "tasks" => tasks: Vec<Task>,
        /// Where the next page begins, if there is one.
        optional "nextCursor" => next_cursor: String,
        /// What kind of result this is. No revision that has tasks of this kind has it.
        optional "resultType" => result_type: ResultType,
        /// Reserved and foreign metadata.
        optional "_meta" => meta: ResultMeta,
    }
}
