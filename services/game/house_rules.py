"""One table's house rules: every option of a normal round, with a version and a digest (30-803, 30-804).

Owns the record. Promises that a rule set in hand is a lawful one: making one that breaks a bound raises the refusal
that names the rule (`rule_bounds`). A round is settled under the rules that it was dealt under, so a rule set never
changes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from services.game.rule_bounds import check_bounds
from services.game.rule_options import (
    Approval,
    ApprovalStatus,
    BurnCardVisible,
    CutCardFirst,
    DealerBlackjackTakes,
    DealerShows,
    DealStyle,
    DoubleOn,
    Face,
    HoleCard,
    InsuranceRule,
    Limits,
    MidShoeEntry,
    Rounding,
    Shuffle,
    Soft17,
    SplitBy,
    Surrender,
)
from services.game.rule_rejections import GameNotApproved
from services.game.rule_text import digest_of
from services.game.wager_kinds import TIP_BET, PayRule, WagerKind


@dataclass(frozen=True, slots=True, kw_only=True)
class HouseRules:
    """A lawful rule set; the defaults are those of the reference sheet for Colorado.

    Money is integer cents, times say their unit, odds are exact gains for one staked (3:2 is Fraction(3, 2)).
    Raises a `RuleFileRefused` when a bound is broken.
    """

    name: str
    version: int

    # The cards and the shoe (30-805, 30-806, 30-816 to 30-819)
    decks: int = 6
    shuffle: Shuffle = Shuffle.HAND
    penetration_percent: int = 75
    min_cut_cards: int = 10
    cut_card_first: CutCardFirst = CutCardFirst.PLAY_ONE_MORE
    burn_after_shuffle: int = 1
    burn_on_dealer_change: int = 1
    burn_card_visible: BurnCardVisible = BurnCardVisible.NEVER
    deal_style: DealStyle = DealStyle.SHOE_UP

    # The dealer (30-823, 30-826)
    soft17: Soft17 = Soft17.HIT
    hole_card: HoleCard = HoleCard.PEEK_ACE_TEN
    dealer_blackjack_takes: DealerBlackjackTakes = DealerBlackjackTakes.ORIGINAL
    dealer_draws_when_decided: bool = False
    dealer_hands: int = 1
    dealer_shows: DealerShows = DealerShows.UP_CARD

    # The pay (30-810, 30-812)
    blackjack_pays: Fraction = Fraction(3, 2)
    insurance: InsuranceRule = InsuranceRule.UP_TO_HALF
    insurance_pays: Fraction = Fraction(2)
    even_money: bool = True
    rounding: Rounding = Rounding.EXACT
    chip_cents: int = 50

    # The player's choices (30-813, 30-814, 30-829)
    double_on: DoubleOn = DoubleOn.ANY_TWO
    double_for_less: bool = True
    double_after_split: bool = True
    double_after_split_aces: bool = False
    double_card_face: Face = Face.UP
    split_by: SplitBy = SplitBy.VALUE
    max_hands: int = 4
    resplit_aces: bool = True
    hit_split_aces: bool = False
    surrender: Surrender = Surrender.NONE
    surrender_after_split: bool = False

    # The seats and the wagers (30-803, 30-809, 30-827)
    max_seats: int = 7
    spots_per_player: int = 2
    spot_adjacent: bool = True
    spot_minimum_multiplier: int = 2
    mid_shoe_entry: MidShoeEntry = MidShoeEntry.OPEN
    mid_shoe_limit_cents: int = 0
    limit_change_notice_minutes: int = 30
    back_betting: bool = False
    accept_cash_plays: bool = False
    accept_verbal: bool = False
    tips: bool = True
    tip_bets: bool = True
    action_timeout_seconds: int = 0

    # The tables of the file
    approval: Approval
    limits: Limits
    wager_kinds: tuple[WagerKind, ...]
    main_pays: tuple[PayRule, ...]

    digest: str = field(init=False, compare=False, repr=False)
    """SHA-256 in hex of the canonical text: the same for every way of writing the same rules."""

    kinds: Mapping[str, WagerKind] = field(init=False, compare=False, repr=False)
    """The wagers that are taken, by name: the declared ones, and tip bets where they are posted. Never written to."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "digest", digest_of(self))
        check_bounds(self)
        taken = (*self.wager_kinds, TIP_BET) if self.tip_bets else self.wager_kinds
        object.__setattr__(self, "kinds", {kind.name: kind for kind in taken})

    @property
    def smallest_stake_cents(self) -> int:
        """What every stake is a multiple of: a cent, or the smallest chip where payments are made in chips (30-810).

        Else what comes back could not be given back in chips.
        """
        return 1 if self.rounding is Rounding.EXACT else self.chip_cents

    def wager_kind(self, name: str) -> WagerKind | None:
        """Give the declared kind of this name, None when the game has no such wager."""
        return self.kinds.get(name)

    def require_approved(self) -> None:
        """Raise `GameNotApproved` unless the game may be dealt: approved, or in field trial (30-830)."""
        if self.approval.status not in {ApprovalStatus.APPROVED, ApprovalStatus.FIELD_TRIAL}:
            raise GameNotApproved(
                f"{self.name} version {self.version} is {self.approval.status.value}, so it cannot be dealt",
                rules=self.name,
                status=self.approval.status.value,
            )
