package shop

import pb "example.com/gen/shop/v1"

func Drop(c pb.ShopClient, o *pb.Order) error {
	_, err := c.Drop(ctx, o)
	return err
}
