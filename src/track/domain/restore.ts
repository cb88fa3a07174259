/** Why a file cannot be restored. */
export const restoreGaps = [
  'secret',
  'ignored',
  'lfs',
  'too_large',
  'not_kept',
  'no_longer_kept',
  'filter',
  'repository',
] as const

export type RestoreGap = (typeof restoreGaps)[number]

/** Words after the name of the file. */
export const restoreGapWords: Readonly<Record<RestoreGap, string>> = {
  secret: 'may hold secrets: its content is never kept',
  ignored: 'is ignored by git: its content is not kept',
  lfs: 'is kept by Git LFS: git lfs checkout brings it back',
  too_large: 'was larger than 5 MB: its content was not kept',
  not_kept: 'was not kept',
  no_longer_kept: 'is no longer kept: contents are kept for 30 days',
  filter: 'needs a filter of the repository, which Waymark does not run: use git checkout',
  repository: 'belongs to another repository inside this one',
}

export const restoreActions = ['created', 'changed', 'removed'] as const
