//! What a handler can ask for: of the user, of the model, of the client.
//!
//! *What stands before the last input of a handler runs once for each round: do what has an
//! effect after it.* A handler that asks for an input either has it or ends; when the answer
//! is there, it is run again from its beginning. That is the same for every revision of the
//! protocol, although up to 2025-11-25 a server asks its client, and since 2026-07-28 it says
//! in a result what it needs and the client calls again.

use std::marker::PhantomData;

pub use mcp_macros::{Choice, Form};
use mcp_protocol::tool::decode_arguments;
use mcp_protocol::types::{
    ClientCapabilities, CreateMessageParams, CreateMessageResult, Declared, ElicitAction,
    ElicitMode, ElicitParams, ElicitResult, EmptyParams, IncludeContext, InputRequest,
    ListRootsResult, RequestedSchema, Root,
};
use mcp_protocol::{ProtocolVersion, RawJson, connection::Caller};
use serde::de::DeserializeOwned;

pub use crate::field::{Choice, Field, FieldSchema};
use crate::router::resources::is_uri;

/// Something that a handler asks for with [`Context::input`](crate::Context::input).
///
/// Implemented by what [`form`], [`fields`], [`page`], [`sample`] and [`roots`] give.
pub trait Input {
    /// What the handler gets.
    type Value;

    /// What is asked.
    fn request(&self) -> InputRequest;

    /// What an answer says.
    ///
    /// # Errors
    ///
    /// [`Unanswered`], when it does not say what was asked for.
    fn read(&self, answer: &RawJson) -> Result<Self::Value, Unanswered>;
}

/// Why an answer is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unanswered {
    /// It is not of the form that was asked for: the question is asked again.
    Unusable,
    /// The user said no: the call ends.
    Declined,
    /// The user closed the question: the call ends.
    Cancelled,
}

/// What a person fills in.
///
/// Flat: each field is text, a number, a yes or no, or a choice. Implemented by
/// `#[derive(Form)]`, for a struct, which reads the answer, too:
///
/// ```
/// use mcp_server::input::form;
/// use mcp_server::prelude::*;
///
/// #[derive(Form)]
/// struct Account {
///     /// Where we can reach you.
///     #[form(title = "E-mail", format = "email")]
///     email: String,
///     #[form(min = 18, max = 120)]
///     age: Option<u8>,
/// }
///
/// /// Opens an account.
/// #[derive(Deserialize, JsonSchema, Tool)]
/// struct Open {}
///
/// impl Run for Open {
///     async fn run(self, cx: &Context) -> Result<String, ToolError> {
///         let account = cx.input("account", form::<Account>("Who are you?"))?;
///         Ok(format!("{} {:?}", account.email, account.age))
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say what is filled in",
    label = "derive it on a struct with named fields: `#[derive(Form)]`"
)]
pub trait Form: DeserializeOwned {
    /// The fields.
    fn schema() -> RequestedSchema;
}

/// Asks the user to fill in a form.
#[must_use]
pub fn form<T: Form>(message: impl Into<String>) -> FormInput<T> {
    FormInput {
        params: ElicitParams::form(message, T::schema()),
        value: PhantomData,
    }
}

/// Asks the user to fill in a form that is known at run time only. Gives the members that the
/// user filled in, as a JSON object.
#[must_use]
pub fn fields(message: impl Into<String>, schema: RequestedSchema) -> FormInput<RawJson> {
    FormInput {
        params: ElicitParams::form(message, schema),
        value: PhantomData,
    }
}

/// Sends the user to a web page; gives nothing but that the user agreed to go. What should not
/// pass through the client, such as a password, is asked there. Anything but an absolute URL
/// fails the call.
#[must_use]
pub fn page(message: impl Into<String>, url: impl Into<String>) -> PageInput {
    PageInput(ElicitParams::page(message, url))
}

/// Asks the client's model for a message.
#[must_use]
pub fn sample(params: CreateMessageParams) -> SampleInput {
    SampleInput(params)
}

/// Asks the client which directories it works on.
#[must_use]
pub fn roots() -> RootsInput {
    RootsInput(())
}

/// [`form`], or [`fields`].
#[derive(Clone, Debug)]
pub struct FormInput<T> {
    params: ElicitParams,
    value: PhantomData<fn() -> T>,
}

/// [`page`].
#[derive(Clone, Debug)]
pub struct PageInput(ElicitParams);

/// [`sample`].
#[derive(Clone, Debug)]
pub struct SampleInput(CreateMessageParams);

/// [`roots`].
#[derive(Clone, Debug)]
pub struct RootsInput(());

/// What a user did with a question: see [`FormInput::answer`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elicited<T> {
    /// Answered it.
    Accepted(T),
    /// Said no.
    Declined,
    /// Closed it.
    Cancelled,
}

/// An input of which a no is an answer, too.
#[derive(Clone, Debug)]
pub struct OrNot<I>(I);

impl<T> FormInput<T> {
    /// Takes a no for an answer, which otherwise ends the call.
    #[must_use]
    pub fn answer(self) -> OrNot<Self> {
        OrNot(self)
    }
}

impl PageInput {
    /// Takes a no for an answer, which otherwise ends the call.
    #[must_use]
    pub fn answer(self) -> OrNot<Self> {
        OrNot(self)
    }
}

impl<T: DeserializeOwned> Input for FormInput<T> {
    type Value = T;

    fn request(&self) -> InputRequest {
        InputRequest::Elicit(self.params.clone())
    }

    fn read(&self, answer: &RawJson) -> Result<T, Unanswered> {
        let content = accepted(answer)?.content;
        let content = content.unwrap_or(RawJson::empty_object());
        decode_arguments(&content).or(Err(Unanswered::Unusable))
    }
}

impl Input for PageInput {
    type Value = ();

    fn request(&self) -> InputRequest {
        InputRequest::Elicit(self.0.clone())
    }

    fn read(&self, answer: &RawJson) -> Result<(), Unanswered> {
        accepted(answer).map(|_| ())
    }
}

impl Input for SampleInput {
    type Value = CreateMessageResult;

    fn request(&self) -> InputRequest {
        InputRequest::CreateMessage(self.0.clone())
    }

    fn read(&self, answer: &RawJson) -> Result<CreateMessageResult, Unanswered> {
        answer.decode().or(Err(Unanswered::Unusable))
    }
}

impl Input for RootsInput {
    type Value = Vec<Root>;

    fn request(&self) -> InputRequest {
        InputRequest::ListRoots(EmptyParams::new())
    }

    fn read(&self, answer: &RawJson) -> Result<Vec<Root>, Unanswered> {
        let result = answer.decode::<ListRootsResult>();
        result
            .map(|result| result.roots)
            .or(Err(Unanswered::Unusable))
    }
}

impl<I: Input> Input for OrNot<I> {
    type Value = Elicited<I::Value>;

    fn request(&self) -> InputRequest {
        self.0.request()
    }

    fn read(&self, answer: &RawJson) -> Result<Elicited<I::Value>, Unanswered> {
        match self.0.read(answer) {
            Ok(value) => Ok(Elicited::Accepted(value)),
            Err(Unanswered::Declined) => Ok(Elicited::Declined),
            Err(Unanswered::Cancelled) => Ok(Elicited::Cancelled),
            Err(Unanswered::Unusable) => Err(Unanswered::Unusable),
        }
    }
}

fn accepted(answer: &RawJson) -> Result<ElicitResult, Unanswered> {
    let result: ElicitResult = answer.decode().or(Err(Unanswered::Unusable))?;
    match result.action {
        ElicitAction::Accept => Ok(result),
        ElicitAction::Decline => Err(Unanswered::Declined),
        ElicitAction::Cancel => Err(Unanswered::Cancelled),
        _ => Err(Unanswered::Unusable),
    }
}

/// Whether an answer is a no.
pub(crate) fn is_no(answer: &RawJson) -> bool {
    is_final(accepted(answer))
}

/// Whether an input ends the call if the user says no, in either way.
pub(crate) fn ends_with_no(input: &impl Input) -> bool {
    [ElicitAction::Decline, ElicitAction::Cancel]
        .into_iter()
        .filter_map(|no| RawJson::encode(&ElicitResult::new(no)).ok())
        .all(|no| is_final(input.read(&no)))
}

fn is_final<T>(read: Result<T, Unanswered>) -> bool {
    matches!(read, Err(Unanswered::Declined | Unanswered::Cancelled))
}

/// The URL that a user would be sent to, if that is no absolute one.
pub(crate) fn no_url(request: &InputRequest) -> Option<&str> {
    let InputRequest::Elicit(params) = request else {
        return None;
    };
    let url = params.url.as_deref()?;
    let is_absolute = is_uri(url)
        && url.split_once(':').is_some_and(|(_, rest)| {
            let rest = rest.trim_start_matches('/');
            !rest.is_empty()
        });
    (!is_absolute).then_some(url)
}

/// Adds what a client has to be able to do for a request to be put to it, and says whether it
/// has declared that it can.
pub(crate) fn require(
    request: &InputRequest,
    declared: &ClientCapabilities,
    needed: &mut ClientCapabilities,
) -> bool {
    if declared.covers(request) {
        return true;
    }
    match request {
        InputRequest::Elicit(params) => {
            let needed = needed.elicitation.get_or_insert_default();
            let mode = match params.mode {
                Some(ElicitMode::Url) => &mut needed.url,
                _ => &mut needed.form,
            };
            *mode = Some(Declared::new());
        }
        InputRequest::CreateMessage(params) => {
            let needed = needed.sampling.get_or_insert_default();
            if params.tools.is_some() || params.tool_choice.is_some() {
                needed.tools = Some(Declared::new());
            }
        }
        InputRequest::ListRoots(_) => {
            needed.roots.get_or_insert_default();
        }
        // Of what nobody knows no capability is known either: it is asked for all the same.
        _ => return true,
    }
    false
}

/// Asks for no context if the client has not declared that it can add any, which since 2025-11-25
/// it has to.
pub(crate) fn leave_out_context(request: &mut InputRequest, caller: &Caller) {
    let InputRequest::CreateMessage(params) = request else {
        return;
    };
    let sampling = caller.capabilities().sampling.as_ref();
    let can = sampling.is_some_and(|can| can.context.is_some());
    if !can && caller.version() >= ProtocolVersion::V2025_11_25 {
        params
            .include_context
            .take_if(|context| *context != IncludeContext::None);
    }
}

/// Several inputs, each with its name, which are asked for in one round.
pub trait Inputs {
    /// What the handler gets.
    type Values;

    /// Looks for each of them; `None` if one is not there, which `look` has taken note of.
    ///
    /// # Errors
    ///
    /// What `look` gives.
    #[doc(hidden)]
    fn look<E>(self, look: &mut impl Look<E>) -> Result<Option<Self::Values>, E>;
}

/// How inputs are looked for.
#[doc(hidden)]
pub trait Look<E> {
    /// The value of one input, if it is there.
    fn look<I: Input>(&mut self, name: &str, input: &I) -> Result<Option<I::Value>, E>;
}

macro_rules! inputs {
    ($($name:ident $input:ident $type:ident),+) => {
        impl<$($type: Input),+> Inputs for ($((&str, $type),)+) {
            type Values = ($($type::Value,)+);

            fn look<Failure>(
                self,
                look: &mut impl Look<Failure>,
            ) -> Result<Option<Self::Values>, Failure> {
                let ($(($name, $input),)+) = self;
                $( let $input = look.look($name, &$input)?; )+
                Ok(match ($($input,)+) {
                    ($(Some($input),)+) => Some(($($input,)+)),
                    _ => None,
                })
            }
        }
    };
}

inputs!(a_name a A);
inputs!(a_name a A, b_name b B);
inputs!(a_name a A, b_name b B, c_name c C);
inputs!(a_name a A, b_name b B, c_name c C, d_name d D);
