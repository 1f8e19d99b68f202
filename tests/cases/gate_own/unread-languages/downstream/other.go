package main

type Box struct{ ShipTo string }

func (b Box) Drop() string { return b.ShipTo }
