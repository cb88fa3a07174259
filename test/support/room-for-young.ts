/** Tests make much that is soon garbage: with more room for it Node collects less often, which is a part of their time. */
export const roomForYoung = ['--min-semi-space-size=32', '--max-semi-space-size=64']
