"""Frozen values, quick to define. Knows nothing of what they hold."""

from __future__ import annotations

from collections.abc import Callable, KeysView
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, TypeVar, dataclass_transform, overload

if TYPE_CHECKING:  # imported where they are needed, which is rarely: `dataclasses` alone takes a millisecond
    from inspect import Signature

T = TypeVar("T")
_MISSING: Any = object()


class _Field:
    """What is special about a field."""

    def __init__(self, default: Any, default_factory: Any, *, shown: bool) -> None:
        self.default, self.default_factory, self.shown = default, default_factory, shown


def field(*, default: Any = _MISSING, default_factory: Callable[[], Any] = _MISSING, repr: bool = True) -> Any:
    """A field of a frozen class whose default is made anew for each value, or that is not shown."""
    return _Field(default, default_factory, shown=repr)


@overload
def frozen(cls: type[T], /) -> type[T]: ...
@overload
def frozen(*, eq: bool = False) -> Callable[[type[T]], type[T]]: ...
@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(field,))
def frozen(cls: Any = None, /, *, eq: bool = False) -> Any:
    """What `dataclass(frozen=True, eq=False)` makes, in a fiftieth of the time: its methods are shared, not generated.

    Generating them takes half a millisecond for each class, a NamedTuple a fifth of one. For the classes that every
    evaluation needs that would be most of the time that importing them takes, and somebody waits for it at every start.
    To `dataclasses.fields`, `asdict` and `replace` it is a dataclass from the moment they ask.

    >>> @frozen
    ... class Hit:
    ...     doc: str
    ...     rank: int = 1
    >>> Hit("a"), Hit(doc="b", rank=2).rank
    (Hit(doc='a', rank=1), 2)
    """
    if cls is None:
        return partial(_made, eq=eq)
    return _made(cls, eq=eq)


def _made(cls: type[T], *, eq: bool) -> type[T]:
    made: Any = cls
    if hasattr(made, "_names"):
        raise TypeError(f"{cls.__qualname__} cannot be frozen: fields of another frozen class are not inherited.")
    made._names = cls.__annotations__.keys()
    given = {name: cls.__dict__[name] for name in made._names if name in cls.__dict__}
    special = {name: one for name, one in given.items() if isinstance(one, _Field)}
    defaults = given | {name: one.default for name, one in special.items()}
    made._defaults = {name: value for name, value in defaults.items() if value is not _MISSING}
    made._factories = {
        name: one.default_factory for name, one in special.items() if one.default_factory is not _MISSING
    }
    made._hidden = {name for name, one in special.items() if not one.shown}
    for name in (*_ALWAYS, *(_EQUAL if eq else ())):
        if name not in cls.__dict__:
            setattr(made, name, _Shared.__dict__[name])
    return made  # type: ignore[no-any-return]


def replace(value: T, /, **changes: Any) -> T:
    """The same value with some of its fields changed.

    >>> @frozen
    ... class Hit:
    ...     doc: str
    ...     rank: int = 1
    >>> replace(Hit("a"), rank=2)
    Hit(doc='a', rank=2)
    """
    if hasattr(value, "__struct_fields__"):
        from msgspec import structs

        changed: T = structs.replace(value, **changes)  # type: ignore[type-var]
        return changed
    fields: Any = value
    return type(value)(**{name: getattr(value, name) for name in fields._names} | changes)


def values_of(value: Any) -> tuple[Any, ...]:
    """The fields of a frozen value, in order."""
    return tuple([getattr(value, name) for name in value._names])


_ALWAYS = ("__init__", "__setattr__", "__delattr__", "__repr__", "__signature__", "__dataclass_fields__")
_EQUAL = ("__eq__", "__hash__")


class _SignatureOfFields:
    """The signature of a class for `help`, made when somebody asks for it."""

    def __get__(self, instance: object, owner: type) -> Signature:
        return _signature(owner)


class _DataclassFields:
    """What `dataclasses` knows of a class: when somebody asks for it, the class becomes a dataclass."""

    def __get__(self, instance: object, owner: Any) -> dict[str, Any]:
        import dataclasses

        cls = next(one for one in owner.__mro__ if "_names" in vars(one))
        known = {"default": cls._defaults, "default_factory": cls._factories}
        for name in {*cls._factories, *cls._hidden}:
            given = {key: values[name] for key, values in known.items() if name in values}
            setattr(cls, name, dataclasses.field(repr=name not in cls._hidden, **given))
        dataclasses.dataclass(init=False, repr=False, eq=False, match_args=False)(cls)
        fields: dict[str, Any] = cls.__dataclass_fields__
        return fields


class _Shared:
    """The methods of all frozen classes."""

    __signature__ = _SignatureOfFields()
    __dataclass_fields__ = _DataclassFields()
    _names: ClassVar[KeysView[str]]
    _defaults: ClassVar[dict[str, Any]]
    _factories: ClassVar[dict[str, Callable[[], Any]]]
    _hidden: ClassVar[set[str]]

    def __init__(self, *given: Any, **named: Any) -> None:
        chosen = dict(zip(self._names, given, strict=False)) | named
        values = self._defaults | chosen
        for name, make in self._factories.items():
            if name not in chosen:
                values[name] = make()
        if values.keys() != self._names or len(chosen) < len(given) + len(named):
            _signature(type(self)).bind(*given, **named)  # which says what is wrong
        self.__dict__.update(values)
        if hasattr(self, "__post_init__"):
            self.__post_init__()

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        from dataclasses import FrozenInstanceError

        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        from dataclasses import FrozenInstanceError

        raise FrozenInstanceError(f"cannot delete field {name!r}")

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in self._names if name not in self._hidden)
        return f"{type(self).__qualname__}({shown})"

    def __eq__(self, other: object) -> bool:
        return values_of(self) == values_of(other) if type(other) is type(self) else NotImplemented

    def __hash__(self) -> int:
        return hash(values_of(self))


def _signature(cls: Any) -> Signature:
    from inspect import Parameter, Signature

    defaults = {name: make() for name, make in cls._factories.items()} | cls._defaults
    kind, annotations = Parameter.POSITIONAL_OR_KEYWORD, cls.__annotations__
    return Signature(
        [
            Parameter(name, kind, default=defaults.get(name, Parameter.empty), annotation=annotations[name])
            for name in cls._names
        ]
    )
