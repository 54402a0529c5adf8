package bash

const floodSize = "STARLING_TEST_FLOOD"

func flood() int { return 0 }
