//! A value that an attribute gives.

use proc_macro2::Span;
use syn::parse::ParseStream;
use syn::spanned::Spanned;
use syn::{Error, Expr, ExprLit, ExprUnary, Ident, Lit, LitBool, LitStr, Result, UnOp};

use crate::attr::value;

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

pub(crate) fn literal(word: &Ident, input: ParseStream<'_>) -> Result<Literal> {
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

pub(crate) fn number(word: &Ident, input: ParseStream<'_>) -> Result<Literal> {
    let literal = literal(word, input)?;
    match literal.number() {
        Some(_) => Ok(literal),
        None => {
            let error = format!("`{word}` wants a number: `{word} = 3`");
            Err(Error::new(literal.span, error))
        }
    }
}
