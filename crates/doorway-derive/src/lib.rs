//! `#[derive(Word)]`: enums and small structs as values of shared variables.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::spanned::Spanned as _;
use syn::{Data, DeriveInput, Error, Fields, Ident, Index, Result, Type, parse_macro_input};

/// Makes an enum or a struct a [`Word`](https://docs.rs/doorway-core): a value that fits into one
/// shared variable.
///
/// Fields are packed side by side, each in as many bits as the largest word of its type needs. The
/// variants of an enum are numbered in the order in which they are written, whatever discriminants
/// they have. Fields can be of any type that is a word itself: `bool`, `Pid`, `Option<Pid>`, `u8`
/// to `u32`, `i8` to `i32`, tuples and arrays of words, and other derived types. The name
/// `doorway_core` must be in scope: `use doorway_check::prelude::*`, or a dependency.
///
/// ```
/// use doorway_core::memory::{Pid, Word};
/// use doorway_derive::Word;
///
/// #[derive(Clone, Copy, PartialEq, Debug, Word)]
/// enum Fork {
///     Free,
///     Taken { by: Pid, clean: bool },
///     Asked(Pid),
/// }
/// let taken = Fork::Taken { by: Pid::new(7), clean: true };
/// assert_eq!(Fork::unpack(taken.pack()), taken);
/// assert_eq!(Fork::MAX, (1 << (2 + 16 + 1)) - 1); // which variant, a process, a bit
/// assert_eq!(taken.renamed(&|_| Pid::new(2)), Fork::Taken { by: Pid::new(2), clean: true });
///
/// #[derive(Clone, Copy, PartialEq, Debug, Word)]
/// struct Gate {
///     line: u8,
///     open: bool,
/// }
/// assert_eq!(Gate { line: 3, open: true }.pack(), 0b1_0000_0011);
/// assert_eq!(Gate::FIELDS[1].name, "open");
/// ```
///
/// What does not fit into 64 bits does not compile:
///
/// ```compile_fail,E0080
/// use doorway_core::memory::Word;
/// use doorway_derive::Word;
///
/// #[derive(Clone, Copy, PartialEq, Debug, Word)]
/// struct TooWide {
///     ticket: u64,
///     open: bool,
/// }
/// ```
///
/// Fields that are no words do not compile either, and neither do types with parameters:
///
/// ```compile_fail,E0277
/// use doorway_derive::Word;
///
/// #[derive(Clone, Copy, PartialEq, Debug, Word)]
/// struct Named {
///     name: &'static str,
/// }
/// ```
///
/// ```compile_fail
/// use doorway_derive::Word;
///
/// #[derive(Clone, Copy, PartialEq, Debug, Word)]
/// struct Pair<T>(T, T);
/// ```
#[proc_macro_derive(Word)]
pub fn word(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    expand(&input).unwrap_or_else(Error::into_compile_error).into()
}

fn expand(input: &DeriveInput) -> Result<TokenStream> {
    if !input.generics.params.is_empty() {
        return Err(Error::new(input.generics.span(), "a word has no parameters; derive it for a concrete type"));
    }
    let name = &input.ident;
    let Parts { max, fields, pack, unpack, renamed } = match &input.data {
        Data::Struct(data) => of_struct(&data.fields),
        Data::Enum(data) if data.variants.is_empty() => {
            return Err(Error::new(name.span(), "an enum without variants has no value that a variable could hold"));
        }
        Data::Enum(data) => of_enum(data),
        Data::Union(_) => return Err(Error::new(name.span(), "a union has no value of its own; use an enum")),
    };
    Ok(quote! {
        impl doorway_core::memory::Word for #name {
            type Waiters = doorway_core::memory::Anybody;
            const MAX: u64 = #max;
            const FIELDS: &'static [doorway_core::memory::Field] = &[#(#fields),*];
            fn pack(self) -> u64 {
                let mut word = doorway_core::memory::packed::Packer::new();
                #pack
                word.word()
            }
            fn unpack(word: u64) -> Self {
                let mut word = doorway_core::memory::packed::Unpacker::new(word);
                #unpack
            }
            fn renamed(
                self,
                name: &dyn Fn(doorway_core::memory::Pid) -> doorway_core::memory::Pid,
            ) -> Self {
                #renamed
            }
        }
        // Evaluated here, so that too many bits are an error where the type is written.
        const _: u64 = <#name as doorway_core::memory::Word>::MAX;
    })
}

struct Parts {
    max: TokenStream,
    fields: Vec<TokenStream>,
    pack: TokenStream,
    unpack: TokenStream,
    renamed: TokenStream,
}

fn largest(of: &Type) -> TokenStream {
    quote!(<#of as doorway_core::memory::Word>::MAX)
}

fn renamed() -> TokenStream {
    quote!(doorway_core::memory::Word::renamed)
}

fn of_struct(fields: &Fields) -> Parts {
    let types: Vec<TokenStream> = fields.iter().map(|field| largest(&field.ty)).collect();
    let members: Vec<TokenStream> = members(fields);
    let described = members.iter().enumerate().map(|(i, member)| {
        let (name, before, of) = (member.to_string(), &types[..i], &types[i]);
        quote! {
            doorway_core::memory::Field::new(
                #name,
                doorway_core::memory::packed::bits(doorway_core::memory::packed::together(&[#(#before),*])),
                doorway_core::memory::packed::bits(#of),
            )
        }
    });
    let taken = members.iter().map(|member| quote!(#member: word.take()));
    let renamed = renamed();
    Parts {
        max: quote!(doorway_core::memory::packed::together(&[#(#types),*])),
        fields: described.collect(),
        pack: quote!(#(word.add(self.#members);)*),
        unpack: quote!(Self { #(#taken),* }),
        renamed: quote!(let _ = name; Self { #(#members: #renamed(self.#members, name)),* }),
    }
}

fn of_enum(data: &syn::DataEnum) -> Parts {
    let many = data.variants.len() as u64;
    let (mut sums, mut packs, mut unpacks, mut renames) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let renamed = renamed();
    for (i, variant) in data.variants.iter().enumerate() {
        let (name, tag) = (&variant.ident, i as u64);
        let types: Vec<TokenStream> = variant.fields.iter().map(|field| largest(&field.ty)).collect();
        let members = members(&variant.fields);
        let bound: Vec<Ident> = (0..members.len()).map(|i| format_ident!("field{i}")).collect();
        sums.push(quote!(doorway_core::memory::packed::together(&[#(#types),*])));
        packs.push(quote! {
            Self::#name { #(#members: #bound),* } => {
                word.add_tag(#tag, #many);
                #(word.add(#bound);)*
            }
        });
        renames.push(quote! {
            Self::#name { #(#members: #bound),* } => Self::#name { #(#members: #renamed(#bound, name)),* }
        });
        // No value has a larger tag.
        let tag = if tag + 1 == many { quote!(_) } else { tag.to_token_stream() };
        unpacks.push(quote!(#tag => Self::#name { #(#members: word.take()),* }));
    }
    Parts {
        max: quote!(doorway_core::memory::packed::one_of(&[#(#sums),*])),
        fields: Vec::new(),
        pack: quote!(match self { #(#packs)* }),
        unpack: quote!(match word.take_tag(#many) { #(#unpacks),* }),
        renamed: quote!(let _ = name; match self { #(#renames),* }),
    }
}

/// The names of fields, or their numbers.
fn members(fields: &Fields) -> Vec<TokenStream> {
    let member = |(i, field): (usize, &syn::Field)| match &field.ident {
        Some(name) => name.to_token_stream(),
        None => Index::from(i).to_token_stream(),
    };
    fields.iter().enumerate().map(member).collect()
}
