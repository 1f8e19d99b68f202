SELECT coupon FROM garden.plants;
