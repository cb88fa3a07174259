/** The words that decide what a verb of change says about a path. */

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/))

export const adverbs = words(
  'also then finally additionally lastly now first second third furthermore moreover successfully just only simply ' +
    'both meanwhile similarly along too again done',
)
export const authors = words("i we i've we've i'd we'd i'm")
export const negations = words(
  "not no never without none neither nor cannot can't couldn't didn't don't doesn't wasn't weren't isn't aren't won't " +
    "wouldn't shouldn't hasn't haven't hadn't avoid avoids avoided avoiding avoiding skip skipped skipping leaving except " +
    'excluding besides unless until',
)
export const modals = words(
  "should would could can may might must will shall i'll we'll they'll it'll need needs needed want wants plan plans " +
    'intend going able ought had',
)
export const subordinate = words(
  'that which who whose whom because since when whenever where whereas if once so whether how while although though ' +
    'as what whatever after before until unless than',
)
export const stops = words(
  'for using with via like per against based following covering matching mirroring reusing importing calling verifying ' +
    'testing confirming keeping ensuring making allowing causing described defined used called declared exported imported ' +
    'found seen reported mentioned instead rather e.g such see cf versus vs',
)
export const softStops = words(
  'of on about around between through over among besides near above below beneath',
)
export const places = words('in into within inside at across under onto')
export const determiners = words(
  'the a an its our my their this these those each every both all any some one two three several',
)
export const objectWords = words(
  'the a an new existing both all my our its this these those following file files module modules component components ' +
    'script scripts test tests doc docs document config configuration migration migrations helper helpers page pages ' +
    'fixture fixtures class template also only unit integration spec specs e2e source shared dedicated small two three four ' +
    'five six several some separate single missing main stub workflow schema utility middleware hook endpoint readme guide ' +
    'stylesheet',
)
export const objectPronouns = words('it them that whether how what')
/** After "to" only verbs: others, such as "test" and "check", may be nouns. */
export const purposes = words(
  'verify ensure avoid prevent allow let handle parse make keep compute calculate validate render expose replace ' +
    'implement explain describe prove reproduce demonstrate define provide reduce simplify convert serve hold',
)
export const pointers = words(
  'link links reference references pointer redirect path paths import imports ref refs symlink mapping alias ' +
    'due relative similar related compared up back equivalent identical respect regard access call calls usage usages ' +
    'dependency dependencies point points url pattern glob value default',
)
export const failures = words(
  'failing failure failures failed flaky test tests error errors crash crashes warning warnings',
)
export const coverings = words('covered tested proven backed')
export const testNouns = words('test tests spec specs')
export const fileNouns = words('file files module component script class page')
export const followers = words(
  'to in into with for by on from at as under using via so which that where because since when while and or plus ' +
    'accordingly too also instead now respectively then file files module component script class page across within ' +
    'inside without including after before was were has have both i we',
)
export const pastVerbs = words(
  'ran read found kept made built took saw set put left wrote rewrote went got let did brought chose cut began gave hid ' +
    'held knew led met sent shut stood told thought understood confirmed',
)
