//! What a form's struct says, not yet judged.

use proc_macro2::Span;
use syn::parse::ParseStream;
use syn::spanned::Spanned;
use syn::{
    Attribute, Data, DeriveInput, Error, Expr, ExprLit, ExprUnary, Fields, Ident, Lit, LitBool,
    LitStr, Path, Result, Type, UnOp,
};

use crate::ast::optional;
use crate::attr::{name_or, read, text, value};
use crate::doc::Doc;

/// A form: a struct.
pub(crate) struct Form<'a> {
    pub(crate) ident: &'a Ident,
    /// `None` for what is not a struct.
    pub(crate) shape: Option<&'a Fields>,
    /// Those of the fields that have a name.
    pub(crate) fields: Vec<Field<'a>>,
    pub(crate) attrs: Attrs,
}

/// A field of a form.
pub(crate) struct Field<'a> {
    pub(crate) ident: &'a Ident,
    /// What is read from the answer.
    pub(crate) ty: &'a Type,
    /// What the user fills in: without `Option`.
    pub(crate) asked: &'a Type,
    pub(crate) required: bool,
    pub(crate) attrs: Attrs,
}

/// What stands in `#[form(…)]`, on the struct or on a field.
#[derive(Default)]
pub(crate) struct Attrs {
    pub(crate) name: Option<LitStr>,
    pub(crate) title: Option<LitStr>,
    pub(crate) description: Option<LitStr>,
    pub(crate) format: Option<LitStr>,
    pub(crate) min: Option<Literal>,
    pub(crate) max: Option<Literal>,
    pub(crate) default: Option<Literal>,
    pub(crate) krate: Option<Path>,
    /// The doc comment.
    pub(crate) doc: Doc,
    /// The first mistake.
    pub(crate) error: Option<Error>,
}

/// A value that is written out.
pub(crate) struct Literal {
    pub(crate) kind: Kind,
    pub(crate) span: Span,
}

pub(crate) enum Kind {
    Text(LitStr),
    Flag(LitBool),
    /// Not below zero, so that it can be a length.
    Natural(u64),
    Negative(i64),
    Float(f64),
}

impl<'a> Form<'a> {
    pub(crate) fn read(input: &'a DeriveInput) -> Self {
        let shape = match &input.data {
            Data::Struct(data) => Some(&data.fields),
            Data::Enum(_) | Data::Union(_) => None,
        };
        Self {
            ident: &input.ident,
            shape,
            fields: shape
                .into_iter()
                .flatten()
                .filter_map(Field::read)
                .collect(),
            attrs: Attrs::read(&input.attrs, Place::Form),
        }
    }
}

impl<'a> Field<'a> {
    fn read(field: &'a syn::Field) -> Option<Self> {
        let inner = optional(&field.ty);
        Some(Self {
            ident: field.ident.as_ref()?,
            ty: &field.ty,
            asked: inner.unwrap_or(&field.ty),
            required: inner.is_none(),
            attrs: Attrs::read(&field.attrs, Place::Field),
        })
    }

    pub(crate) fn name(&self) -> LitStr {
        name_or(self.attrs.name.as_ref(), self.ident)
    }
}

/// Where an attribute stands.
#[derive(Clone, Copy)]
enum Place {
    Form,
    Field,
}

impl Attrs {
    fn read(attributes: &[Attribute], place: Place) -> Self {
        let mut attrs = Self {
            doc: Doc::read(attributes),
            ..Self::default()
        };
        let (_, error) = read(attributes, "form", "title", |word, input| {
            attrs.item(word, place, input)
        });
        attrs.error = error;
        attrs
    }

    fn item(&mut self, word: &Ident, place: Place, input: ParseStream<'_>) -> Result<()> {
        match (word.to_string().as_str(), place) {
            ("name", Place::Field) => self.name = Some(text(word, input)?),
            ("title", Place::Field) => self.title = Some(text(word, input)?),
            ("description", Place::Field) => self.description = Some(text(word, input)?),
            ("format", Place::Field) => self.format = Some(text(word, input)?),
            ("min", Place::Field) => self.min = Some(number(word, input)?),
            ("max", Place::Field) => self.max = Some(number(word, input)?),
            ("default", Place::Field) => self.default = Some(literal(word, input)?),
            ("crate", Place::Form) => self.krate = Some(value(word, input, "path")?),
            (_, place) => return Err(unknown(word.span(), place)),
        }
        Ok(())
    }
}

fn unknown(span: Span, place: Place) -> Error {
    let error = match place {
        Place::Form => "a form has no such attribute; it has `crate`, and others on its fields",
        Place::Field => {
            "a field of a form has no such attribute; it has `name`, `title`, `description`, \
             `format`, `min`, `max` and `default`"
        }
    };
    Error::new(span, error)
}

impl Literal {
    /// For a comparison; `None` for what is no number.
    #[allow(
        clippy::cast_precision_loss,
        reason = "two numbers that are this close together may pass for equal"
    )]
    pub(crate) fn number(&self) -> Option<f64> {
        match self.kind {
            Kind::Natural(number) => Some(number as f64),
            Kind::Negative(number) => Some(number as f64),
            Kind::Float(number) => Some(number),
            Kind::Text(_) | Kind::Flag(_) => None,
        }
    }

    fn read(lit: &Lit, negative: bool, span: Span) -> Option<Self> {
        let kind = match lit {
            Lit::Str(text) if !negative => Kind::Text(text.clone()),
            Lit::Bool(flag) if !negative => Kind::Flag(flag.clone()),
            Lit::Int(number) if negative => {
                Kind::Negative(format!("-{}", number.base10_digits()).parse().ok()?)
            }
            Lit::Int(number) => Kind::Natural(number.base10_parse().ok()?),
            Lit::Float(number) => {
                let number: f64 = number.base10_parse().ok()?;
                Kind::Float(if negative { -number } else { number })
            }
            _ => return None,
        };
        Some(Self { kind, span })
    }
}

fn literal(word: &Ident, input: ParseStream<'_>) -> Result<Literal> {
    let written: Expr = value(word, input, "literal")?;
    let span = written.span();
    let read = match &written {
        Expr::Lit(ExprLit { lit, .. }) => Literal::read(lit, false, span),
        Expr::Unary(ExprUnary {
            op: UnOp::Neg(_),
            expr,
            ..
        }) => match &**expr {
            Expr::Lit(ExprLit { lit, .. }) => Literal::read(lit, true, span),
            _ => None,
        },
        _ => None,
    };
    read.ok_or_else(|| {
        let error = format!("`{word}` wants a text, a number, `true` or `false`");
        Error::new_spanned(&written, error)
    })
}

fn number(word: &Ident, input: ParseStream<'_>) -> Result<Literal> {
    let literal = literal(word, input)?;
    match literal.number() {
        Some(_) => Ok(literal),
        None => {
            let error = format!("`{word}` wants a number: `{word} = 3`");
            Err(Error::new(literal.span, error))
        }
    }
}
